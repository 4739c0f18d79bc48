import type { EventId } from '@tally/contract'
import type { StoredEvent } from '@tally/figures'
import { complete, type EventVersion, type ReadModelRedis, type ShardHash } from '@tally/publication'
import { beforeEach, expect, test } from 'vitest'
import { createRedisReads, createTexts, type Head, type Look, type Seen } from './fromRedis.ts'

const eventId = 'e' as EventId
const event = { eventId, shard: 3 } as unknown as StoredEvent
const cached: Head = { eventId, revision: 7, event }
const hashOf = (asOfMs: number): ShardHash => ({ asOfMs, epoch: 1, revisions: new Map([[eventId, 7]]) })
const version: EventVersion = { revision: 7, epoch: 1 }

/** What Redis is asked for. */
let asked: string[]
const look: Look = async (id, shard) => {
  asked.push(`shard ${shard}`, `event ${id}`)
  return { shard, hash: hashOf(2_000), version }
}
const read = createRedisReads({ look } as unknown as Parameters<typeof createRedisReads>[0])
const allowance = Promise.resolve()
const nothing = () => []
beforeEach(() => {
  asked = []
})

test('what a request has seen is not read again', async () => {
  const seen: Seen = { shard: 3, hash: hashOf(1_000), version }
  expect(await read(eventId, nothing, cached, { allowance, seen })).toMatchObject({
    head: cached,
    asOfMs: 1_000,
  })
  expect(asked).toEqual([])
})

test.each([
  ['nothing', undefined],
  ['another shard than the event’s', { shard: 2, hash: hashOf(9_000), version }],
])('a request that has seen %s reads the shard’s hash and the event’s', async (_what, seen) => {
  expect(await read(eventId, nothing, cached, { allowance, seen })).toMatchObject({
    head: cached,
    asOfMs: 2_000,
  })
  expect(asked).toEqual(['shard 3', 'event e'])
})

test.each([
  ['behind what its shard’s hash claims', { revision: 6, epoch: 1 }],
  ['of a later epoch than its shard’s hash', { revision: 7, epoch: 2 }],
])('an event that is %s is old, though it was seen before', async (_what, version) => {
  const seen: Seen = { shard: 3, hash: hashOf(1_000), version }
  expect(await read(eventId, nothing, cached, { allowance, seen })).toBe('old')
})

const record = JSON.stringify({ eventId, shard: 3, version: 2 })
const stored = { revision: '7', epoch: '1', complete, version: '2', event: record, 'kpis:41:0': '{}' }

/** Reads a document of an event from a hash of these fields. */
function readHash(fields: Record<string, string>, known?: Head) {
  const hmget = async (key: string, ...names: string[]) =>
    names.map(name => (key === eventId && fields[name]) || null)
  const redis = {
    isCluster: true,
    hmget,
    hget: async (key: string, name: string) => (await hmget(key, name))[0],
  }
  const deps = { redis, keys: { event: (id: EventId) => id }, look }
  return createRedisReads(deps as unknown as Parameters<typeof createRedisReads>[0])(
    eventId,
    () => ['kpis:41:0'],
    known,
  )
}
const answer = (text: string) =>
  expect.objectContaining({ asOfMs: 2_000, documents: new Map([['kpis:41:0', text]]) })

test.each([
  ['complete', {}, answer('{}')],
  ['without a document, but complete', { 'kpis:41:0': undefined }, answer('')],
  ['that never was complete, but has the document', { complete: undefined }, answer('{}')],
  ['that never was complete', { complete: undefined, 'kpis:41:0': undefined }, 'missing'],
  ['without the event', { event: undefined }, 'missing'],
  ['that has just been deleted', { revision: undefined }, 'missing'],
  ['whose event is always another version', { version: '3' }, 'missing'],
  ['that has just gone back', { revision: '6' }, 'old'],
])('what is read from a hash %s', async (_what, fields, expected) => {
  expect(await readHash({ ...stored, ...fields } as Record<string, string>)).toEqual(expected)
})

test('an event known at another version is read again, and that of another id is an error', async () => {
  const known = { ...cached, event: { ...event, version: 1 } }
  expect(await readHash(stored, known)).toMatchObject({ head: { event: { version: 2 } } })
  await expect(readHash({ ...stored, event: record.replace('"e"', '"f"') })).rejects.toThrow('another event')
})

/** Answers each name with its key, and a hash `bad` with the message of an error. */
function openFake() {
  const sent: string[][] = []
  const redis = {
    async readDocumentsOfEach(count: number, ...given: (string | number)[]) {
      const keys = given.slice(0, count) as string[]
      sent.push(keys)
      let at = count
      return keys.map(key => {
        const names = given.slice(at + 1, at + 1 + (given[at] as number))
        at += 1 + names.length
        return key === 'bad' ? 'WRONGTYPE' : names.map(name => `${key} ${name}`)
      })
    },
  } as unknown as ReadModelRedis
  return { sent, read: createTexts(redis) }
}

test('reads that begin together are one command, and each gets its own texts or error', async () => {
  const { sent, read } = openFake()
  const later = Promise.resolve().then(() => read('c', 'x'))
  const results = await Promise.allSettled([read('a', 'x', 'y'), read('bad', 'x'), read('b', 'z'), later])
  expect(sent).toEqual([['a', 'bad', 'b', 'c']])
  expect(results).toEqual([
    { status: 'fulfilled', value: ['a x', 'a y'] },
    { status: 'rejected', reason: new Error('WRONGTYPE') },
    { status: 'fulfilled', value: ['b z'] },
    { status: 'fulfilled', value: ['c x'] },
  ])
  await read('d', 'x')
  expect(sent).toHaveLength(2)
})

test('one command reads at most eight events', async () => {
  const { sent, read } = openFake()
  const keys = Array.from({ length: 20 }, (_, index) => `${index}`)
  expect(await Promise.all(keys.map(key => read(key, 'x')))).toEqual(keys.map(key => [`${key} x`]))
  expect(sent.map(({ length }) => length)).toEqual([8, 8, 4])
})
