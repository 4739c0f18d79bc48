import { eventExample, orderExample, type RecordType, refundExample } from '@tally/contract'
import { type KafkaRecord, partitionOf } from '@tally/kafka'
import { expect, test } from 'vitest'
import { createCheck } from './check.ts'

const [events, orders, refunds] = [eventExample, orderExample, refundExample]
const eventKey = Buffer.from(orders.eventId)

/** A record of orders with the right key, unless they are given. */
const record = (value: unknown, key: Buffer | string | null = eventKey): KafkaRecord => ({
  offset: 7,
  timestampMs: -1,
  headers: {},
  key: typeof key === 'string' ? Buffer.from(key) : key,
  value: value === null || Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value)),
})

function check(one: KafkaRecord, { type = 'orders' as RecordType, partition = 0, partitions = 0 } = {}) {
  const { check, counts } = createCheck()
  const batch = { topic: 'orders', partition, from: 7, next: 8, lastStableOffset: 8, records: [one] }
  const findings = check(type, batch, partitions === 0 ? undefined : partitions)
  return { findings, counts }
}

test('a finding has the place, the reason, the field and what it takes, and never the value', () => {
  const items = [{ ...orders.items[0], quantity: 'MARKER' }]
  expect(check(record({ ...orders, items })).findings).toEqual([
    {
      type: 'orders',
      partition: 0,
      offset: 7,
      reason: 'schema',
      field: 'items[0].quantity',
      takes: expect.not.stringContaining('MARKER'),
    },
  ])
})

test('every bad field of a record is named, once, and at most 100', () => {
  const line = { ...orders.items[0], quantity: 'x', unitPrice: '1' }
  const fields = (value: object) => check(record(value)).findings.map(({ field }) => field)
  const bad = { ...orders, version: 0, status: 'Lost', items: [line] }
  expect(fields(bad)).toEqual(['version', 'status', 'items[0].quantity', 'items[0].unitPrice'])
  expect(check(record(bad)).counts.rejected).toBe(1)
  expect(fields({ ...orders, items: Array(500).fill(line) })).toHaveLength(100)
})

const upperCase = orders.eventId.toUpperCase()
const text = (value: unknown) => Buffer.from(JSON.stringify(value))
const wrapped = { schema: { type: 'struct' }, payload: orders }
const cloudEvent = { specversion: '1.0', type: 'order.paid', source: '/tills', id: '1', data: orders }

test.each([
  ['schema-registry', 'not-json', record(Buffer.concat([Buffer.from([0, 0, 0, 0, 5]), text(orders)]))],
  [
    'schema-registry',
    'key-mismatch',
    record(orders, Buffer.concat([Buffer.from([0, 0, 0, 0, 5]), eventKey])),
  ],
  ['connect-schema', 'schema', record(wrapped)],
  ['connect-schema', 'key-mismatch', record(orders, text({ schema: {}, payload: orders.eventId }))],
  ['json-in-text', 'schema', record(JSON.stringify(orders))],
  ['cloudevents', 'schema', record(cloudEvent)],
  ['debezium', 'schema', record({ before: null, after: orders, op: 'c' })],
  ['no-value', 'not-json', record(null)],
  ['byte-order-mark', 'not-json', record(Buffer.from(`\ufeff${JSON.stringify(orders)}`))],
  ['other-encoding', 'not-json', record(Buffer.from('{"itemName":"Caffè"}', 'latin1'))],
  ['upper-case-key', 'key-mismatch', record({ ...orders, eventId: upperCase }, upperCase)],
  ['json-key', 'key-mismatch', record(orders, text(orders.eventId))],
  ['json-key', 'key-mismatch', record(orders, text({ eventId: orders.eventId }))],
  ['order-key', 'key-mismatch', record(orders, orders.orderId)],
])('%s is named behind %s', (mistake, reason, one) => {
  const [finding, ...others] = check(one).findings
  expect(others).toEqual([])
  expect(finding).toMatchObject({ mistake, reason, advice: expect.stringMatching(/\.$/) })
  expect(JSON.stringify(finding)).not.toContain(orders.orderId)
  expect(JSON.stringify(finding).toLowerCase()).not.toContain(orders.eventId)
})

test.each([
  ['not-json', record(Buffer.from('{'))],
  ['schema', record('a text')],
  ['schema', record(5)],
  ['schema', record([orders])],
  ['key-mismatch', record(orders, 'another')],
  ['key-mismatch', record(orders, null)],
])('nothing is named behind %s if it is none of the usual mistakes', (reason, one) => {
  const [finding] = check(one).findings
  expect(finding).toMatchObject({ reason, field: reason === 'key-mismatch' ? 'key' : 'value' })
  expect(finding).not.toHaveProperty('mistake')
})

test('a record that is too large to be read is one finding', () => {
  const leftOut = { bytes: 9 * 1024 * 1024, sha256: '' }
  expect(check({ ...record(null), leftOut }).findings).toMatchObject([
    { reason: 'too-large', field: 'value' },
  ])
})

test('a partition that is not murmur2 of the key is named, and the record counts', () => {
  const right = partitionOf(eventKey, 6)
  expect(check(record(orders), { partition: right, partitions: 6 }).findings).toEqual([])
  const { findings, counts } = check(record(orders), { partition: (right + 1) % 6, partitions: 6 })
  expect(findings).toMatchObject([{ reason: 'partition', field: 'partition', mistake: 'partitioner' }])
  expect(counts).toEqual({ records: 1, rejected: 0, misplaced: 1 })
})

/** A batch of one record for each value, from offset 7 on. */
const batch = (...values: object[]) => ({
  topic: 'events',
  partition: 0,
  from: 7,
  next: 7 + values.length,
  lastStableOffset: 7 + values.length,
  records: values.map((value, index) => ({ ...record(value), offset: 7 + index })),
})

test('an event that changes its organization is a conflict, as in the projector', () => {
  const { check } = createCheck()
  expect(check('events', batch(events))).toEqual([])
  const moved = { ...events, version: 99, organizationId: '0b5a0000-0000-4000-8000-000000000002' }
  expect(check('events', batch(moved))).toMatchObject([{ reason: 'conflict', field: 'organizationId' }])
})

test.each([
  ['events', events, { name: 'Another' }],
  ['orders', orders, { totalAmount: 40 }],
  ['refunds', refunds, { amount: 1 }],
] as const)(
  '%s: another record with the version of an earlier one is a contradiction, a repeat is not',
  (type, value, over) => {
    const { check, counts } = createCheck()
    expect(check(type, batch(value, { ...value, unknown: 1 }))).toEqual([])
    const other = { ...value, ...over }
    const newer = { ...other, version: value.version + 1 }
    const [finding, ...more] = check(type, batch(other, newer, value, other))
    expect(finding).toMatchObject({
      offset: 7,
      reason: 'contradiction',
      field: 'version',
      mistake: 'same-version',
      advice: expect.stringContaining('unique within the event'),
    })
    expect(more).toEqual([])
    expect(counts).toMatchObject({ records: 6, rejected: 1 })
  },
)

test('a refund that names another order is a conflict; another event has orders and refunds of its own', () => {
  const { check } = createCheck()
  const elsewhere = { ...refunds, orderId: 'another', version: 9 }
  expect(check('refunds', batch(refunds, elsewhere))).toMatchObject([
    { offset: 8, reason: 'conflict', field: 'orderId' },
  ])
})

test('how a record is written makes no other record of it', () => {
  const { check } = createCheck()
  const asText = (edit: (text: string) => string, value: object = orders) => ({
    ...record(null),
    value: Buffer.from(edit(JSON.stringify(value))),
  })
  const pizza = { ...orders, paymentMethod: 'Pizza \u{1f355}', tableNumber: null }
  const { tableNumber: _, ...withoutTable } = pizza
  const records = [
    asText(text => text, pizza),
    asText(text => text.replace('\u{1f355}', '\\ud83c\\udf55'), pizza),
    asText(text => text.replaceAll(',', ' ,\n').replace('27.5', '2.750e1').replace('12.5', '12.50'), pizza),
    asText(text => text, Object.fromEntries(Object.entries(withoutTable).toReversed())),
    asText(text => text, { ...pizza, eventId: pizza.eventId.toUpperCase() }),
    asText(text => text, { ...pizza, orderDateTime: '2026-09-04T21:31:07.000+02:00' }),
  ].map((one, offset) => ({ ...one, offset }))
  const all = { ...batch(), from: 0, next: records.length, records }
  expect(check('orders', all)).toEqual([])
  expect(check('orders', batch({ ...pizza, paymentMethod: 'Pizza' }))).toMatchObject([
    { reason: 'contradiction' },
  ])
})
