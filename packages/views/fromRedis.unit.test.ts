import type { EventId } from '@tally/contract'
import type { StoredEvent } from '@tally/figures'
import type { EventVersion, ShardHash } from '@tally/publication'
import { beforeEach, expect, test } from 'vitest'
import { createRedisReads, type Head, type Look, type Seen } from './fromRedis.ts'

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

test('an event that is behind what its shard’s hash claims is old, though it was seen before', async () => {
  const seen: Seen = { shard: 3, hash: hashOf(1_000), version: { revision: 6, epoch: 1 } }
  expect(await read(eventId, nothing, cached, { allowance, seen })).toBe('old')
})
