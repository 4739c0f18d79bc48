import { randomUUID } from 'node:crypto'
import type { EventId } from '@tally/contract'
import { ensureOffsets } from '@tally/read-models'
import { freshDatabase } from '@tally/testkit/servers/database'
import { testRedis } from '@tally/testkit/servers/redis'
import { sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openShadow, shadowSchema } from './shadow.ts'
import { switchAll } from './switchAll.ts'
import { switchShards } from './switchShards.ts'

const shadow = (table: string) => sql.id(shadowSchema, table)

/** Two shards that both sides have read to the same offsets. */
async function caughtUp() {
  const { db, drop } = await freshDatabase()
  onTestFinished(drop)
  const { redis, keys } = await testRedis()
  onTestFinished(() => redis.disconnect())
  const topics = ['tally.events', 'tally.orders', 'tally.refunds']
  for (const topic of topics) await ensureOffsets(db, topic, [0, 1])
  await ensureOffsets(db, 'tally.organizations', [0])
  const { live } = await openShadow(db, 'tally', async () => true)
  await sql`insert into ${shadow('shard_offsets')} select * from shard_offsets`.execute(db)
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
  const names = { eventsTopic: 'tally.events', ordersTopic: 'tally.orders', refundsTopic: 'tally.refunds' }
  return {
    db,
    redis,
    keys,
    locked: db,
    live,
    follower,
    topics,
    ...names,
    mayRemove: false,
    onRemoving: vi.fn(),
  }
}

test('an event with records in several shards is still marked as such if its head was lost', async () => {
  const deps = await caughtUp()
  const { db } = deps
  const [scattered, whole] = [randomUUID(), randomUUID()] as [EventId, EventId]
  await sql`
insert into ${shadow('event_heads')} (event_id, shard, revision, is_scattered)
values (${scattered}, 0, 1, true), (${whole}, 1, 1, false)`.execute(db)

  expect(await switchShards(deps, [0, 1])).toBe(2)
  const heads = await db.selectFrom('event_heads').select(['event_id', 'shard', 'is_scattered']).execute()
  expect(heads.toSorted((one, other) => one.shard - other.shard)).toEqual([
    { event_id: scattered, shard: 0, is_scattered: true },
    { event_id: whole, shard: 1, is_scattered: false },
  ])
})

test('orders and refunds that the topics do not hold are removed only if that is asked for; otherwise no shard is switched', async () => {
  const deps = await caughtUp()
  const { db } = deps
  const [first, second] = [randomUUID(), randomUUID()]
  for (const heads of [sql`event_heads`, shadow('event_heads')]) {
    await sql`insert into ${heads} (event_id, shard, revision) values (${first}, 0, 1), (${second}, 1, 1)`.execute(
      db,
    )
  }
  await sql`
insert into orders (event_id, order_id, version, total_cents)
values (${first}, 'damaged', 1, 7), (${second}, 'lost', 1, 100), (${second}, 'lost, but not its refund', 1, 100),
  (${second}, 'last version lost', 3, 100),
  (${second}, 'never-came', 0, 0)`.execute(db)
  await sql`
insert into ${shadow('orders')} (event_id, order_id, version, total_cents)
values (${first}, 'damaged', 1, 100), (${second}, 'lost, but not its refund', 0, 0),
  (${second}, 'last version lost', 2, 50)`.execute(db)
  await sql`
insert into refunds (event_id, refund_id, order_id, refunded_at, amount_cents, lines)
values (${second}, 'gone', 'lost', 0, 1, '[]')`.execute(db)
  await sql`
insert into refunds (event_id, refund_id, version, order_id, refunded_at, amount_cents, lines)
values (${second}, 'taken back', 2, 'lost', 0, 0, '[]')`.execute(db)
  await sql`
insert into ${shadow('refunds')} (event_id, refund_id, version, order_id, refunded_at, amount_cents, lines)
values (${second}, 'taken back', 1, 'lost', 0, 1, '[]')`.execute(db)
  const orders = () => db.selectFrom('orders').select(['order_id', 'version', 'total_cents']).execute()
  const before = await orders()

  const all = { switched: [], organizationsTopic: 'tally.organizations' }
  await expect(switchAll(deps, all)).rejects.toThrow(
    'the topics no longer hold 3 orders (tally.orders, partition 1), 2 refunds (tally.refunds, partition 1) that ' +
      'Postgres has, or their latest version: their records were deleted or compacted, or a topic was created again. Nothing of these ' +
      'partitions was changed. To keep them, run `tally rebuild` without --from-kafka; to remove them, run ' +
      '`tally rebuild --from-kafka --yes`.',
  )
  expect(await orders()).toEqual(before)
  // Also if they came to be lacking after all shards were counted.
  await expect(switchShards(deps, [1])).rejects.toThrow('the topics no longer hold 3 orders')

  expect(deps.onRemoving).not.toHaveBeenCalled()
  expect(await switchAll({ ...deps, mayRemove: true }, all)).toBe(2)
  expect(deps.onRemoving).toHaveBeenCalledExactlyOnceWith(
    '3 orders (tally.orders, partition 1), 2 refunds (tally.refunds, partition 1)',
  )
  expect(await orders()).toEqual([
    { order_id: 'damaged', version: 1, total_cents: 100 },
    { order_id: 'last version lost', version: 2, total_cents: 50 },
    { order_id: 'lost, but not its refund', version: 0, total_cents: 0 },
  ])
  expect(await db.selectFrom('refunds').select(['refund_id', 'version']).execute()).toEqual([
    { refund_id: 'taken back', version: 1 },
  ])
})
