import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeText, decodeWith, goodRecords, judged, readWith } from '../test/records.ts'
import { rules } from '../test/rules.ts'
import { decodeRecord, type RecordType, recordTypes, schemaIssues } from './decode.ts'

const types = Object.keys(recordTypes) as RecordType[]
const organizationKey = Buffer.from(goodRecords.organizations.organizationId)
const organizationText = JSON.stringify(goodRecords.organizations)
const reasonOf = (decoded: ReturnType<typeof decodeRecord>) =>
  decoded.outcome === 'rejected' ? decoded.reason : 'good'

test.each(types)('the example of docs/records.md is a good record of %s', type => {
  expect(decodeWith(type)).toMatchObject({ outcome: 'decoded' })
})

test.each([
  ['a missing value', null],
  ['an empty value', ''],
  ['half a document', '{"a":'],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ['a byte order mark', `\ufeff${organizationText}`],
  ['two documents', '{}{}'],
  ['a text', 'Order 7 is ready'],
  ['half a list', '[1, 2'],
  ['half a text', '"Order'],
  ['nothing but white space', ' \n'],
  ['NaN', '{"version":NaN}'],
])('%s is not JSON', (_, value) => {
  const bytes = value === null ? null : Buffer.from(value)
  expect(reasonOf(decodeRecord('organizations', organizationKey, bytes))).toBe('not-json')
})

test.each(['null', '[]', '"text"', '7', '-1', 'true', 'false', ' [ ] ', '\n"{"\t', '\r7'])(
  '%s is JSON but no object: schema',
  text => {
    expect(reasonOf(decodeText('organizations', text))).toBe('schema')
  },
)

test('a document nested half a million deep is judged like any other', () => {
  const text = `${'['.repeat(500_000)}${']'.repeat(500_000)}`
  expect(decodeText('organizations', text)).toMatchObject({ message: 'the value: must be an object' })
})

test('the first reason that holds is the reason: not-json, then schema, then key-mismatch', () => {
  expect(reasonOf(decodeRecord('organizations', null, Buffer.from('{')))).toBe('not-json')
  expect(reasonOf(decodeRecord('organizations', null, Buffer.from('{}')))).toBe('schema')
  expect(reasonOf(decodeRecord('organizations', null, Buffer.from(organizationText)))).toBe('key-mismatch')
})

test('the key is the lower-case id of the value, byte for byte', () => {
  const upper = goodRecords.organizations.organizationId.toUpperCase()
  const text = JSON.stringify({ ...goodRecords.organizations, organizationId: upper })
  expect(decodeText('organizations', text)).toMatchObject({ value: { organizationId: upper.toLowerCase() } })
  for (const key of [upper, '', `${upper.toLowerCase()} `, 'another'])
    expect(reasonOf(decodeText('organizations', text, key))).toBe('key-mismatch')
})

test('a value of another type is named by what the field takes', () => {
  const order = goodRecords.orders
  const messageOf = (change: object) => {
    const decoded = decodeText('orders', JSON.stringify({ ...order, ...change }))
    return decoded.outcome === 'rejected' ? decoded.message : decoded.outcome
  }
  expect(
    [
      { areaId: null },
      { amountPaid: '12.50' },
      { isTakeaway: 1 },
      { items: {} },
      { status: 'Open' },
      { dayId: undefined },
    ].map(messageOf),
  ).toEqual([
    'areaId: must be a number',
    'amountPaid: must be a number, not a string',
    'isTakeaway: must be true or false',
    'items: must be a list',
    'status: must be one of PreOrder, Pending, Paid, Preparing, ReadyForPickup, Completed, Cancelled',
    'dayId: must be a number, and is missing',
  ])
})

test('a rule about all lines is not reported on top of a wrong line', () => {
  const [line] = goodRecords.orders.items
  const value = { ...goodRecords.orders, items: [{ ...line, quantity: 100_001, unitPrice: 5_000 }] }
  const fields = (of: object) =>
    schemaIssues('orders', Buffer.from(JSON.stringify(of)), 9).map(({ field }) => field)
  expect(fields(value)).toEqual(['items[0].quantity'])
  expect(fields({ ...value, items: [{ ...line, quantity: 100_000, unitPrice: 5_000 }] })).toEqual(['items'])
})

test('fields that the schema does not name are dropped, in lists too', () => {
  const line = { ...goodRecords.orders.items[0], customer: 'Ada' }
  const order = readWith('orders', {
    customerName: 'Ada',
    email: 'ada@example.org',
    items: [line],
    __proto__x: 1,
  })
  expect(JSON.stringify(order)).not.toMatch(/ada|customer/i)
  const text = organizationText.replace('{', '{"__proto__":{"name":"Ada"},"constructor":"Ada",')
  expect(JSON.stringify(decodeText('organizations', text))).not.toContain('Ada')
})

test.each(types)('a message names the field of a bad record of %s and never says its value', type => {
  const fields = Object.keys(goodRecords[type])
  const marker = fc.stringMatching(/^[A-Za-z]{4}$/).map(text => `Marker${text}@x`)
  const bad = marker.chain(text =>
    fc.constantFrom<unknown>(
      text.repeat(300),
      [text],
      { [text]: text },
      [{ [text]: 1 }],
      [[text]],
      `\0${text}`,
    ),
  )
  fc.assert(
    fc.property(fc.constantFrom(...fields), bad, (field, value) => {
      const decoded = decodeText(type, JSON.stringify({ ...goodRecords[type], [field]: value }))
      if (decoded.outcome === 'decoded') return expect.fail(`${field} took a bad value`)
      expect(decoded.message).not.toContain('Marker')
      expect(decoded.message.startsWith(field)).toBe(true)
      expect(decoded.message).not.toContain('\n')
    }),
    { numRuns: 200 },
  )
})

test('a message shows the way to a field in a list', () => {
  const [first] = goodRecords.orders.items
  expect(decodeWith('orders', { items: [first, { ...first, quantity: 0 }] })).toMatchObject({
    message: 'items[1].quantity: must not be 0',
  })
})

test('no bytes whatever make decoding throw', () => {
  const anything = fc.oneof(
    fc.uint8Array(),
    fc.json().map(text => new TextEncoder().encode(text)),
  )
  fc.assert(
    fc.property(fc.constantFrom(...types), anything, (type, bytes) => {
      expect(['not-json', 'schema']).toContain(reasonOf(decodeRecord(type, null, Buffer.from(bytes))))
    }),
  )
})

type Fields = Record<string, unknown>

test.each(Object.entries(rules))('%s', (_, { type, fields, good, bad }) => {
  for (const value of good) expect([value, judged(type, fields(value))]).toEqual([value, 'good'])
  for (const value of bad)
    expect([value, judged(type, fields(value))]).toEqual([value, expect.stringMatching(/^schema: /)])
})

test('every required field is required and must not be null', () => {
  const optional = Object.values(rules)
    .filter(({ good }) => good.includes(undefined))
    .map(({ type, fields }) => ({ type, absent: fields(undefined) }))
  for (const [type, record] of Object.entries(goodRecords) as [RecordType, Fields][]) {
    for (const name of Object.keys(record)) {
      const absent = [undefined, null].map(value => judged(type, { [name]: value }))
      if (optional.some(of => of.type === type && name in of.absent && of.absent[name] === undefined))
        expect(absent).toEqual(['good', 'good'])
      else for (const verdict of absent) expect(verdict).toMatch(`schema: ${name}: `)
    }
  }
})

test('ids come out in lower case, texts as they came, money in cents, instants in milliseconds', () => {
  const eventId = '7C1E0000-0000-4000-8000-00000000000A'
  const order = readWith('orders', {
    eventId,
    displayOrderNumber: ' 1 ',
    totalAmount: 27.5,
    amountPaid: 1.13,
  })
  expect(order).toMatchObject({
    eventId: eventId.toLowerCase(),
    displayOrderNumber: ' 1 ',
    totalAmount: 2750,
    amountPaid: 113,
    orderDateTime: Date.UTC(2026, 8, 4, 19, 31, 7),
  })
})

test('absent and null are one; an empty text stays an empty text', () => {
  expect(readWith('events', { timeZone: null }).timeZone).toBe('UTC')
  expect(readWith('orders', { tableNumber: undefined }).tableNumber).toBeNull()
  expect(readWith('orders', { tableNumber: '' }).tableNumber).toBe('')
  expect(readWith('refunds', { lines: null }).lines).toEqual([])
  expect(readWith('refunds', { version: undefined }).version).toBe(1)
})
