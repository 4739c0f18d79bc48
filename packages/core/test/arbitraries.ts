import { orderStatuses } from '@tally/contract'
import { anOrder, aRefund } from '@tally/testkit/records/decoded'
import fc from 'fast-check'
import moment from 'moment-timezone'
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

/** Any zone; those above more often. */
export const anyZone = fc.oneof(fc.constantFrom(...zones), fc.constantFrom(...moment.tz.names()))

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
/** What a till gives back is below zero: a returned cup, a discount, an order of returns alone. */
const signedEuros = fc.tuple(euros, fc.constantFrom(1, 1, -1)).map(([amount, sign]) => amount * sign)
const signedQuantity = fc.constantFrom(-3, -2, -1, 1, 2, 3, 4, 5)
/** As tills write them: the same but for case or a space, and none. */
const paymentMethod = fc.constantFrom('Cash', 'Card', 'card', 'Card ', '')
const orderIds = ['A-1', 'A-2', 'A-3', 'B-1'] as const
const orderId = fc.constantFrom(...orderIds)

const order = fc
  .record({
    orderId,
    version: fc.integer({ min: 1, max: 4 }),
    status: fc.constantFrom(...orderStatuses),
    areaId: fc.integer({ min: 1, max: 2 }),
    dayId: fc.integer({ min: 41, max: 42 }),
    orderDateTime: timestamp,
    paymentMethod,
    totalAmount: signedEuros,
    items: fc.array(fc.record({ menuItemId: item, quantity: signedQuantity, unitPrice: signedEuros }), {
      maxLength: 4,
    }),
  })
  .map((fields): GoodRecord => ({ order: anOrder(fields) }))

/** A refund of a fee less, of more than was sold, or taken back by a version without money and lines. */
const refund = fc
  .record({
    number: fc.integer({ min: 0, max: 5 }),
    version: fc.integer({ min: 1, max: 3 }),
    refundedAt: timestamp,
    amount: fc.oneof(euros, fc.constant(0)),
    lines: fc.array(
      fc.record({ menuItemId: item, quantity: fc.integer({ min: 1, max: 6 }), amount: euros }),
      { maxLength: 3 },
    ),
  })
  .map(({ number, ...fields }): GoodRecord => {
    // A refund keeps its order, whatever its version.
    const ofOrder = orderIds[number % orderIds.length]
    return { refund: aRefund({ ...fields, refundId: `R-${number}`, orderId: ofOrder }) }
  })

const claim = (record: GoodRecord) =>
  'order' in record
    ? `${record.order.orderId} ${record.order.version}`
    : `${record.refund.refundId} ${record.refund.version}`

/**
 * Records of one event; a refund may come before its order. No two different records of one id have the same version,
 * because then their order in the partition would decide.
 */
export const recordSet = fc
  .array(fc.oneof({ weight: 3, arbitrary: order }, { weight: 2, arbitrary: refund }), { maxLength: 30 })
  .map(records => [...new Map(records.map(record => [claim(record), record])).values()])
