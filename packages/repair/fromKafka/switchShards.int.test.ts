import { randomUUID } from 'node:crypto'
import type { EventId } from '@tally/contract'
import { ensureOffsets } from '@tally/read-models'
import { freshDatabase } from '@tally/testkit/servers/database'
import { testRedis } from '@tally/testkit/servers/redis'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openShadow, shadowSchema } from './shadow.ts'
import { switchShards } from './switchShards.ts'

test('an event with records in several shards is still marked as such if its head was lost', async () => {
  const { db, drop } = await freshDatabase()
  onTestFinished(drop)
  const { redis, keys } = await testRedis()
  onTestFinished(() => redis.disconnect())
  const topics = ['tally.events', 'tally.orders', 'tally.refunds']
  for (const topic of topics) await ensureOffsets(db, topic, [0, 1])
  const { live } = await openShadow(db, 'tally', async () => true)
  const shadow = (table: string) => sql.id(shadowSchema, table)
  await sql`insert into ${shadow('shard_offsets')} select * from shard_offsets`.execute(db)
  const [scattered, whole] = [randomUUID(), randomUUID()] as [EventId, EventId]
  await sql`
insert into ${shadow('event_heads')} (event_id, shard, revision, is_scattered)
values (${scattered}, 0, 1, true), (${whole}, 1, 1, false)`.execute(db)

  const follower = {
    reach: async () => {},
    ends: async () => new Map<string, number>(),
    behind: () => 0,
    position: () => ({ done: 0, all: 0 }),
    release() {},
    forget() {},
    failed: new Promise<never>(() => {}),
    stop: async () => {},
  }
  const deps = {
    db,
    redis,
    keys,
    locked: db,
    live,
    follower,
    topics,
    eventsTopic: 'tally.events',
    mayRemove: false,
  }
  expect(await switchShards(deps, [0, 1])).toBe(2)
  const heads = await db.selectFrom('event_heads').select(['event_id', 'shard', 'is_scattered']).execute()
  expect(heads.toSorted((one, other) => one.shard - other.shard)).toEqual([
    { event_id: scattered, shard: 0, is_scattered: true },
    { event_id: whole, shard: 1, is_scattered: false },
  ])
})
