import { randomUUID } from 'node:crypto'
import type { EventId } from '@tally/contract'
import { publishEvents } from '@tally/publication'
import { databaseOfFile } from '@tally/testkit/servers/database'
import { redisOfFile } from '@tally/testkit/servers/redis'
import { sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createRepairs, requireEpoch } from './repairs.ts'

const { redis, keys } = await redisOfFile()
const database = await databaseOfFile()

test('a query process publishes an event only into the epoch that Redis is in', async () => {
  const { db } = database
  const id = randomUUID() as EventId
  await sql`insert into event_heads (event_id, shard, revision) values (${id}, 3, 7)`.execute(db)
  await sql`
insert into events (event_id, organization_id, version, time_zone, document) values (${id}, ${randomUUID()}, 1, 'UTC', '{}')
`.execute(db)
  const { rows } = await sql<{ epoch: number }>`select current_epoch() as epoch`.execute(db)
  const epoch = rows[0]?.epoch ?? 0
  const repair = () =>
    publishEvents(
      { db, redis, keys, epochs: requireEpoch({ redis, keys }) },
      new Map([[id, { whole: true }]]),
    )

  for (const other of [undefined, epoch - 1, epoch + 1]) {
    if (other !== undefined) await redis.hset(keys.shard(3), 'epoch', other)
    await expect(repair()).rejects.toThrow('epoch')
    expect(await redis.exists(keys.event(id))).toBe(0)
  }
  await redis.hset(keys.shard(3), 'epoch', epoch)
  await repair()
  expect(await redis.hget(keys.event(id), 'epoch')).toBe(String(epoch))
})

test('an event that cannot be composed is tried again only after a while, one that cannot be read now at once', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const failures = {
    composed: new RangeError('the sum is too large'),
    read: Object.assign(new Error('down'), { code: '57P03' }),
  }
  const tried: string[] = []
  const repair = createRepairs<keyof typeof failures>(
    2,
    async id => {
      tried.push(id)
      throw failures[id]
    },
    () => {},
  )
  for (const restMs of [0, 0, 30_000]) {
    await vi.advanceTimersByTimeAsync(restMs)
    repair('composed')
    repair('read')
  }
  expect(tried).toEqual(['composed', 'read', 'read', 'composed', 'read'])
})
