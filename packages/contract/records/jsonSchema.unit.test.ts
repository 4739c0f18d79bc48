import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { default as formats } from 'ajv-formats'
import { expect, test } from 'vitest'
import { goodRecords } from '../test/records.ts'
import { rules } from '../test/rules.ts'
import { type RecordType, recordTypes } from './decode.ts'
import { recordJsonSchema } from './jsonSchema.ts'

const types = Object.keys(recordTypes) as RecordType[]

/** A validator with ajv's default options, and the formats that it leaves to ajv-formats. */
function validator(type: RecordType) {
  const ajv = new Ajv2020()
  formats.default(ajv)
  return ajv.compile(recordJsonSchema(type))
}
const check = Object.fromEntries(types.map(type => [type, validator(type)] as const))
const takes = (type: RecordType, fields: object) =>
  check[type]?.(JSON.parse(JSON.stringify({ ...goodRecords[type], ...fields }))) === true

test.each(types)('%s have a JSON Schema that takes the good record and ignores unknown fields', type => {
  expect(takes(type, {})).toBe(true)
  expect(takes(type, { customerName: 'Ada' })).toBe(true)
})

test.each(types)('%s have the same schema as draft-07, for AsyncAPI', type => {
  const ajv = new Ajv()
  formats.default(ajv)
  const { $schema, ...schema } = recordJsonSchema(type, 'draft-07')
  expect($schema).toBe('http://json-schema.org/draft-07/schema#')
  expect(ajv.validate(schema, goodRecords[type])).toBe(true)
  expect(ajv.validate(schema, { ...goodRecords[type], eventId: 7, organizationId: 7 })).toBe(false)
  const { $schema: _, ...newer } = recordJsonSchema(type)
  expect(schema).toEqual(newer)
})

test('every price from 0.00 to 999.99 is valid', () => {
  const [line] = goodRecords.orders.items
  const order = { ...goodRecords.orders, items: [line] }
  const refused: number[] = []
  for (let cents = 0; cents < 100_000; cents++) {
    const price = cents / 100
    const items = [{ ...line, unitPrice: price }]
    if (check.orders?.({ ...order, amountPaid: price, totalAmount: price, items }) !== true)
      refused.push(price)
  }
  expect(refused).toEqual([])
})

test.each(Object.entries(rules))('%s: the schema refuses nothing that the projector takes', (_, rule) => {
  for (const value of rule.good) expect([value, takes(rule.type, rule.fields(value))]).toEqual([value, true])
})

/** What the schema takes and the projector refuses: the rules that the schema's description names. */
const onlyTheProjector: Record<string, unknown[]> = {
  amounts: [12.505, -12.505, 1.001, 0.1 + 0.2],
  instants: [
    '2026-02-29T00:00:00Z',
    '2026-09-31T00:00:00Z',
    '1969-12-31T23:59:59.999Z',
    '1970-01-01T00:30:00+01:00',
    '9999-12-31T23:59:59-00:01',
  ],
  dates: ['2026-02-29', '2100-02-29', '2026-09-31'],
  'time zones': ['+02:00', 'europe/rome', 'Rome', '', 'PST', 'SystemV/EST5', 'CET+1', ' UTC'],
  texts: ['\ud83c', '\udf5f\ud83c', '\u{1f35f}'.repeat(101)],
  'a closing': ['2026-09-05T15:59:59.999Z'],
  sums: [99_999_999.99, -99_999_999.99, -3],
}
const known = new Set(Object.values(onlyTheProjector).flat())
const lists = new Set(['areas', 'days', 'menu items', 'refund lines'])

test.each(Object.entries(rules))('%s: the schema refuses what is not left to the projector', (name, rule) => {
  for (const value of rule.bad) {
    // Lists with an id twice, two open days, or a sum that is too high.
    if (known.has(value) || (lists.has(name) && Array.isArray(value) && value.length < 4)) continue
    expect([value, takes(rule.type, rule.fields(value))]).toEqual([value, false])
  }
})

test('the description names what the projector judges besides', () => {
  expect(recordJsonSchema('orders').description).toContain('amounts have at most two decimals')
  expect(recordJsonSchema('events').description).toContain('IANA time zone')
})

test('ids and dates say their format, too', () => {
  const days = { items: { properties: { date: { format: 'date' } } } }
  const properties = { organizationId: { format: 'uuid' }, startDate: { format: 'date-time' }, days }
  expect(recordJsonSchema('events')).toMatchObject({ properties })
})

test('required fields are named', () => {
  const { required } = recordJsonSchema('refunds')
  expect(required).toEqual(['eventId', 'refundId', 'orderId', 'refundedAt', 'amount'])
})
