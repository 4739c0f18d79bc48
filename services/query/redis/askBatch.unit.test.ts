import type { AccessKeys } from '@tally/access'
import type { EventId, OrganizationId } from '@tally/contract'
import type { RedisKeys } from '@tally/publication'
import { expect, test } from 'vitest'
import { createAskBatch, type QueryRedis } from './askBatch.ts'
import {
  BatchedEvent,
  BatchedOrganization,
  BatchedShard,
  joinEvent,
  joinShard,
  joinTakers,
  newBatch,
} from './batch.ts'

/** Asks a client of Redis for one batch. */
function asking(redis: object) {
  /** The error of each, undefined for one that Redis has accepted. */
  const writes: unknown[] = []
  const breaker = { noteWrite: (error?: unknown) => void writes.push(error), refusesWrites: true }
  const ask = createAskBatch(
    { redis: redis as QueryRedis, keys: {} as RedisKeys & AccessKeys, topics: ['orders'], breaker },
    { Trial: 2, ActiveDayPass: 60, Inactive: 3 },
  )
  return { ask, writes }
}
/** The same; the script replies with these lines. */
const askWith = (...lines: string[]) => asking({ askBatch: async () => lines.join('\n') })
const organization = (id: string) =>
  new BatchedOrganization(id as OrganizationId, { window: `window ${id}`, organization: id })
const shard = new BatchedShard(0, 'shard')
const event = (id: string) =>
  new BatchedEvent(id as EventId, shard, { key: `event ${id}`, field: `revision ${id}` })

test('each organization gets its line; one that is an error or blank is what Redis did not take', async () => {
  const { ask, writes } = askWith('1 60 59 60000', 'WRONGTYPE a value', '', '-')
  const batch = newBatch(1)
  const takers = ['a', 'b', 'c', 'd', 'e'].map(id => joinTakers(batch, organization(id)).taken)
  await ask(batch)
  expect(await Promise.all(takers)).toEqual([[1, 60, 59, 60_000], undefined, undefined, null, undefined])
  expect(writes).toEqual([
    undefined,
    new Error('WRONGTYPE a value'),
    new Error('a line of the reply is missing'),
    new Error('a line of the reply is missing'),
  ])
})

test('each hash gets its line; one that is an error or blank fails alone', async () => {
  const { ask } = askWith('1 2000 7 - 8', '7 1', '- -', 'WRONGTYPE a value', '')
  const batch = newBatch(1)
  const wanted = ['a', 'b', 'c', 'd'].map(event)
  const shards = wanted.map(event => joinShard(batch, event))
  const settled = Promise.allSettled(wanted.map(event => joinEvent(batch, event)))
  await ask(batch)
  expect((await shards[0])?.asOfMs).toBe(2_000)
  expect(await settled).toEqual([
    { status: 'fulfilled', value: { revision: 7, epoch: 1 } },
    { status: 'fulfilled', value: undefined },
    { status: 'rejected', reason: new Error('WRONGTYPE a value') },
    { status: 'rejected', reason: new Error('a line of the reply is missing') },
  ])
})

test('in a cluster, a client that throws because no node has the slot is one that did not take the request', async () => {
  const { ask, writes } = asking({
    takeRequests() {
      throw new Error('no node has the slot')
    },
  })
  const batch = newBatch(1, true)
  const { taken } = joinTakers(batch, organization('a'))
  await ask(batch)
  expect(await taken).toBeUndefined()
  expect(writes).toEqual([new Error('no node has the slot')])
})
