import { decodeRecord } from '@tally/contract'
import { expect, test } from 'vitest'
import { randomFrom } from '../../chaos/load/random.ts'
import { type BadValue, badValue, notJson, wrongFields } from './bad.ts'
import { orderRecord } from './records.ts'
import { evenShape } from './shape.ts'

const eventId = '5a8c3c0e-0000-8000-a000-000000000001'
const orderOf = (order: number) =>
  orderRecord(evenShape(1, 1_000, 1), { eventId, event: 0, order, version: 1 }).value
const decoded = (value: BadValue) => decodeRecord('orders', Buffer.from(eventId), Buffer.from(value))

test.each(Object.entries(notJson))('%s is not JSON', (_, spoil) => {
  for (let seed = 0; seed < 100; seed++)
    expect(decoded(spoil(orderOf(seed), randomFrom(seed, 'bad')))).toMatchObject({ reason: 'not-json' })
})

test.each(Object.entries(wrongFields))('%s breaks the schema by itself', (field, value) => {
  const message = expect.stringMatching(new RegExp(`^${field}\\b`))
  expect(decoded(JSON.stringify({ ...orderOf(0), [field]: value }))).toMatchObject({
    reason: 'schema',
    message,
  })
})

test('half of the bad values are no JSON, half break the schema, and none is good', () => {
  const random = randomFrom(1, 'bad')
  const all = Array.from({ length: 1_000 }, (_, order) => decoded(badValue(orderOf(order), random)))
  const share = (reason: string) => all.filter(one => 'reason' in one && one.reason === reason).length / 1_000
  expect(share('not-json') + share('schema')).toBe(1)
  expect(share('schema')).toBeCloseTo(0.5, 1)
})

test('a seed spoils alike again', () => {
  const spoiled = (seed: number) => {
    const random = randomFrom(seed, 'bad')
    return Array.from({ length: 100 }, (_, order) => String(badValue(orderOf(order), random)))
  }
  expect(spoiled(7)).toEqual(spoiled(7))
  expect(spoiled(8)).not.toEqual(spoiled(7))
})
