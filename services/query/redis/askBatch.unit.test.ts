import type { AccessKeys, AccessRedis } from '@tally/access'
import type { EventId, OrganizationId } from '@tally/contract'
import type { ReadModelRedis, RedisKeys } from '@tally/read-models'
import { expect, test } from 'vitest'
import { openAskBatch } from './askBatch.ts'
import { joinEvent, joinShard, joinTakers, newBatch } from './batch.ts'

const keyOf = (id: string | number) => `${id}`
const keys = { window: keyOf, organization: keyOf, event: keyOf, shard: keyOf } as unknown as RedisKeys &
  AccessKeys

/** Asks for one batch; the scripts reply with these lines. */
function askWith(taken: string[], versions: string[]) {
  const redis = {
    takeFromEach: async () => taken.join('\n'),
    readVersions: async () => versions.join('\n'),
  } as unknown as AccessRedis & ReadModelRedis
  const failures: unknown[] = []
  const breaker = { noteWrite: (error?: unknown) => void (error !== undefined && failures.push(error)) }
  const ask = openAskBatch(
    { redis, keys, topics: ['orders'], breaker },
    { Trial: 60, ActiveDayPass: 60, Inactive: 60 },
  )
  return { ask, failures }
}

test('each organization gets its line; one that is an error or blank is what Redis did not take', async () => {
  const { ask, failures } = askWith(['1 60 59 60000', 'WRONGTYPE a value', '', '-'], [])
  const batch = newBatch()
  const takers = ['a', 'b', 'c', 'd', 'e'].map(id => joinTakers(batch, id as OrganizationId).taken)
  await ask(batch)
  expect(await Promise.all(takers)).toEqual([[1, 60, 59, 60_000], undefined, undefined, null, undefined])
  expect(failures).toEqual([
    new Error('WRONGTYPE a value'),
    new Error('a line of the reply is missing'),
    new Error('a line of the reply is missing'),
  ])
})

test('each hash gets its line; one that is an error or blank fails alone', async () => {
  const { ask } = askWith([], ['1 2000 7 - 8', '7 1', '- -', 'WRONGTYPE a value', ''])
  const batch = newBatch()
  const ids = ['a', 'b', 'c', 'd'] as EventId[]
  const shards = ids.map(id => joinShard(batch, 0, id))
  const events = ids.map(id => joinEvent(batch, id, 0))
  const settled = Promise.allSettled(events)
  await ask(batch)
  expect((await shards[0])?.asOfMs).toBe(2_000)
  expect(await settled).toEqual([
    { status: 'fulfilled', value: { revision: 7, epoch: 1 } },
    { status: 'fulfilled', value: undefined },
    { status: 'rejected', reason: new Error('WRONGTYPE a value') },
    { status: 'rejected', reason: new Error('a line of the reply is missing') },
  ])
})
