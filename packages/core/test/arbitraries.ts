import { orderStatuses } from '@tally/contract'
import { anOrder, aRefund } from '@tally/testkit/records/decoded'
import fc from 'fast-check'
import type { GoodRecord } from './counted.ts'

/** Zones whose clocks change at unusual times or by unusual amounts, or whose offsets had seconds. */
export const zones = [
  'UTC',
  'Europe/Rome',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Africa/Monrovia',
  'Pacific/Apia',
  'America/Sao_Paulo',
  'Africa/Casablanca',
  'Pacific/Chatham',
  'Antarctica/Troll',
] as const

/** Any zone that Node knows; those above more often. */
export const anyZone = fc.oneof(
  fc.constantFrom(...zones),
  fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
)

/** Clock changes: Rome, Lord Howe, St. John's at 00:01, Monrovia in January 1972, Apia's lost day. */
const changes = [
  '2026-03-29T01:00:00Z',
  '2026-10-25T01:00:00Z',
  '2026-04-04T15:00:00Z',
  '2026-10-03T15:30:00Z',
  '2010-03-14T03:31:00Z',
  '2010-11-07T02:31:00Z',
  '1972-01-07T00:44:30Z',
  '1971-06-01T12:00:00Z',
  '2011-12-30T10:00:00Z',
  '2026-08-19T00:00:00Z',
].map(text => Date.parse(text))

/** An instant from 1970 to 2060, often within two hours of a clock change; epoch milliseconds. */
export const instant = fc.oneof(
  fc.integer({ min: 0, max: Date.UTC(2060, 0, 1) }),
  fc
    .tuple(fc.constantFrom(...changes), fc.integer({ min: -7_200_000, max: 7_200_000 }))
    .map(([at, by]) => at + by),
)

const timestamp = instant.map(at => new Date(at).toISOString())
const item = fc.integer({ min: 1, max: 4 })
const cents = fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.constantFrom(0, 1, 5, 333))
const euros = cents.map(amount => amount / 100)
const orderId = fc.constantFrom('A-1', 'A-2', 'A-3', 'B-1')

const order = fc
  .record({
    orderId,
    version: fc.integer({ min: 1, max: 4 }),
    status: fc.constantFrom(...orderStatuses),
    areaId: fc.integer({ min: 1, max: 2 }),
    dayId: fc.integer({ min: 41, max: 42 }),
    orderDateTime: timestamp,
    totalAmount: euros,
    items: fc.array(
      fc.record({ menuItemId: item, quantity: fc.integer({ min: 1, max: 5 }), unitPrice: euros }),
      { maxLength: 4 },
    ),
  })
  .map((fields): GoodRecord => ({ order: anOrder(fields) }))

const refund = fc
  .record({
    refundId: fc.constantFrom('R-1', 'R-2', 'R-3', 'R-4', 'R-5'),
    orderId,
    refundedAt: timestamp,
    more: euros,
    lines: fc.array(fc.record({ menuItemId: item, quantity: fc.integer({ min: 1, max: 6 }), cents }), {
      maxLength: 3,
    }),
  })
  .map(({ more, lines, ...fields }): GoodRecord => {
    const amount = (Math.round(more * 100) + lines.reduce((sum, line) => sum + line.cents, 0)) / 100
    const inEuros = lines.map(({ cents, ...line }) => ({ ...line, amount: cents / 100 }))
    return { refund: aRefund({ ...fields, amount, lines: inEuros }) }
  })

const claim = (record: GoodRecord) =>
  'order' in record ? `${record.order.orderId} ${record.order.version}` : record.refund.refundId

/**
 * Records of one event; a refund may come before its order. No two different records have the same version or refund
 * id, because then their order in the partition would decide.
 */
export const recordSet = fc
  .array(fc.oneof({ weight: 3, arbitrary: order }, { weight: 2, arbitrary: refund }), { maxLength: 30 })
  .map(records => [...new Map(records.map(record => [claim(record), record])).values()])
