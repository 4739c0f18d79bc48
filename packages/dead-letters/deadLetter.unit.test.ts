import { recordTopics, topicNames } from '@tally/kafka'
import { deadLetterRecord } from '@tally/testkit/records/deadLetterRecord'
import { expect, test } from 'vitest'
import { deadLetterOf, isDeadLetterId, ownHeaders } from './deadLetter.ts'
import { originalOf } from './replay.ts'

const sources = recordTopics(topicNames('tally'))
const entry = (over: Parameters<typeof deadLetterRecord>[1] = {}) =>
  deadLetterOf(deadLetterRecord('tally.orders', over), sources)

test('a dead letter has the id of the rejected record', () => {
  expect(entry({ partition: 3, offset: 1204 })).toMatchObject({
    id: 'tally.orders-3-1204',
    source: { topic: 'tally.orders', partition: 3, offset: 1204 },
    reason: 'schema',
    message: 'items: must be an array',
  })
})

test('if the record had headers of our names, the last value is ours and the others are the record’s', () => {
  const headers = { 'tally.reason': ['mine', 'mine too'], '__connect.errors.offset': '7', other: ['a', 'b'] }
  const found = entry({ headers })
  expect(found).toMatchObject({ id: 'tally.orders-0-0', reason: 'schema' })
  expect(ownHeaders(found?.headers ?? {})).toEqual(
    Object.assign(Object.create(null), {
      'tally.reason': [Buffer.from('mine'), Buffer.from('mine too')],
      '__connect.errors.offset': Buffer.from('7'),
      other: [Buffer.from('a'), Buffer.from('b')],
    }),
  )
})

test('headers named like properties of objects are ordinary headers', () => {
  const headers = Object.assign(Object.create(null), { constructor: 'c' })
  Object.defineProperty(headers, '__proto__', { value: Buffer.from('p'), enumerable: true })
  const own = ownHeaders(entry({ headers })?.headers ?? {})
  expect(Object.keys(own)).toEqual(['constructor', '__proto__'])
})

test('a record without one of the added headers, or of another topic, is not a dead letter', () => {
  for (const name of [
    'tally.reason',
    ...['topic', 'partition', 'offset', 'exception.message'].map(of => `__connect.errors.${of}`),
  ]) {
    const record = deadLetterRecord('tally.orders')
    const { [name]: _, ...headers } = record.headers
    expect(deadLetterOf({ ...record, headers }, sources)).toBeUndefined()
  }
  for (const topic of ['tally.dead-letters', 'other.orders', '', '__consumer_offsets'])
    expect(deadLetterOf(deadLetterRecord(topic), sources)).toBeUndefined()
  const wrong = deadLetterRecord('tally.orders')
  const headers = { ...wrong.headers, '__connect.errors.offset': Buffer.from('-1') }
  expect(deadLetterOf({ ...wrong, headers }, sources)).toBeUndefined()
})

test('a record without a key goes back to its own partition, any other to that of its key', () => {
  const sent = (key: Buffer | null) => {
    const found = entry({ key, partition: 4 })
    return found && originalOf(found)
  }
  expect(sent(null)).toMatchObject({ topic: 'tally.orders', partition: 4 })
  expect(sent(Buffer.alloc(0))).not.toHaveProperty('partition')
})

test('an id is a topic, a partition and an offset', () => {
  const ids = ['tally.orders-0-0', 'a-b-1-2-3', 'x-9-9007199254740991']
  for (const text of ids) expect(isDeadLetterId(text)).toBe(true)
  for (const text of ['', 'x', 'x-0', 'x-0-', '-0-0', 'a b-0-0', 'x-01-0', 'x-0--1'])
    expect(isDeadLetterId(text)).toBe(false)
})

test('a dead letter without its value keeps the size and the hash', () => {
  const sha256 = 'a'.repeat(64)
  const headers = { 'tally.value-bytes': '17', 'tally.value-sha256': sha256 }
  expect(entry({ value: null, headers })?.leftOut).toEqual({ bytes: 17, sha256 })
  expect(entry({ headers })?.leftOut).toBeUndefined()
  expect(entry({ value: null })?.leftOut).toBeUndefined()
  expect(entry({ value: null, headers: { ...headers, 'tally.value-sha256': 'x' } })?.leftOut).toBeUndefined()
})
