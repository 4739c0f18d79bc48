import { expect, test } from 'vitest'
import { goodRecords, judged, readWith } from '../test/records.ts'
import { rules } from '../test/rules.ts'
import type { RecordType } from './decode.ts'

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

test('finer digits than the millisecond are cut, never rounded', () => {
  const { orderDateTime } = readWith('orders', { orderDateTime: '2026-09-04T19:31:07.9999Z' })
  expect(orderDateTime).toBe(Date.UTC(2026, 8, 4, 19, 31, 7, 999))
})

test('absent and null are one; an empty text stays an empty text', () => {
  expect(readWith('events', { timeZone: null }).timeZone).toBe('UTC')
  expect(readWith('orders', { tableNumber: undefined }).tableNumber).toBeNull()
  expect(readWith('orders', { tableNumber: '' }).tableNumber).toBe('')
  expect(readWith('refunds', { lines: null }).lines).toEqual([])
  expect(readWith('refunds', { version: undefined }).version).toBe(1)
})
