import type { EventId } from '@tally/contract'
import { asOfField, eventRevisionField } from '@tally/publication'
import { newEventId } from '@tally/testkit/records/records'
import { redisOfFile } from '@tally/testkit/servers/redis'
import { expect, test, vi } from 'vitest'
import { createLooks } from './fromRedis.ts'

const { redis, keys } = await redisOfFile()
const look = createLooks({ redis, keys }, ['orders'])

test('looks that begin together are one command, and each gets its own shard and event, or its own error', async () => {
  const newId = () => newEventId() as EventId
  const [one, other, gone, broken] = [newId(), newId(), newId(), newId()]
  await redis.hset(keys.shard(3), 'epoch', 2, asOfField('orders'), 1_000, eventRevisionField(other), 8)
  await redis.set(keys.shard(4), 'no hash')
  await redis.hset(keys.event(one), 'revision', 7, 'epoch', 1)
  await redis.hset(keys.event(other), 'revision', 8, 'epoch', 2)
  await redis.set(keys.event(broken), 'no hash')
  const reading = vi.spyOn(redis, 'readVersions')
  const places: [EventId, number][] = [
    [one, 3],
    [one, 4],
    [other, 3],
    [gone, 3],
    [broken, 3],
    [one, 5],
  ]
  const seen = await Promise.all(places.map(place => look(...place).catch(error => error)))

  const hash = { epoch: 2, asOfMs: 1_000, revisions: expect.any(Map) }
  expect(seen).toEqual([
    { shard: 3, hash, version: { revision: 7, epoch: 1 } },
    expect.objectContaining({ message: expect.stringContaining('WRONGTYPE') }),
    { shard: 3, hash, version: { revision: 8, epoch: 2 } },
    undefined,
    expect.objectContaining({ message: expect.stringContaining('WRONGTYPE') }),
    {
      shard: 5,
      hash: { epoch: 0, asOfMs: null, revisions: new Map([[one, 0]]) },
      version: { revision: 7, epoch: 1 },
    },
  ])
  expect(seen[2].hash.revisions.get(other)).toBe(8)
  // Hashes of three shards and six events. A client that gathers commands calls itself once more.
  if (!redis.isCluster) expect(new Set(reading.mock.calls.map(([hashes]) => hashes))).toEqual(new Set([9]))
  reading.mockRestore()
})
