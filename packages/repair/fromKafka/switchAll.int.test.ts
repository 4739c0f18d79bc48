import { randomUUID } from 'node:crypto'
import type { EventId } from '@tally/contract'
import { topicNames } from '@tally/kafka'
import { ensureOffsets } from '@tally/offsets'
import type { Postgres } from '@tally/platform'
import { freshDatabase } from '@tally/testkit/servers/database'
import { testRedis } from '@tally/testkit/servers/redis'
import { type RawBuilder, sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openShadow, openShadowPostgres, shadowSchema } from './shadow.ts'
import { switchAll } from './switchAll.ts'

const shadow = (table: string) => sql.id(shadowSchema, table)

/** Two shards that both sides have read to the same offsets. */
async function caughtUp() {
  const { db, url, drop } = await freshDatabase()
  onTestFinished(drop)
  const { redis, keys } = await testRedis()
  onTestFinished(() => redis.disconnect())
  const topics = topicNames('tally')
  for (const topic of [topics.events, topics.orders, topics.refunds]) await ensureOffsets(db, topic, [0, 1])
  await ensureOffsets(db, topics.organizations, [0])
  await openShadow(db, 'tally', async () => true)
  await sql`insert into ${shadow('shard_offsets')} select * from shard_offsets`.execute(db)
  const ofShadow = await openShadowPostgres(db, url, 1)
  onTestFinished(() => ofShadow.destroy())
  const follower = { reach: async (live: Map<string, number>) => live, release() {} }
  return {
    db,
    redis,
    keys,
    locked: db,
    shadow: ofShadow,
    follower,
    topics,
    mayRemove: false,
    onRemoved: vi.fn(),
  }
}

/** The revision that each shard got when it was switched. */
async function revisionsOf(db: Postgres): Promise<number[]> {
  const rows = db.selectFrom('shard_offsets').select('revision').where('topic', '=', 'tally.events')
  return (await rows.orderBy('partition').execute()).map(({ revision }) => revision)
}

test('all shards are switched at one revision, and again by a run that continues one that was killed', async () => {
  const deps = await caughtUp()
  const [removed, ...kept] = [randomUUID(), randomUUID(), randomUUID()]
  for (const heads of [sql`event_heads`, shadow('event_heads')])
    await sql`
insert into ${heads} (event_id, shard, revision)
values (${removed}, 0, 1), (${kept[0]}, 0, 1), (${kept[1]}, 1, 1)`.execute(deps.db)
  await sql`insert into removed_events (event_id) values (${removed})`.execute(deps.db)
  expect(await switchAll(deps)).toBe(2)
  const [first = 0, second] = await revisionsOf(deps.db)
  expect(first).toBeGreaterThan(0)
  expect(second).toBe(first)
  expect(await switchAll(deps)).toBe(2)
  for (const revision of await revisionsOf(deps.db)) expect(revision).toBeGreaterThan(first)
})

test('nothing is switched if records of a partition came that is not read, or if what was read is lost', async () => {
  const deps = await caughtUp()
  for (const topic of [deps.topics.events, deps.topics.orders]) await ensureOffsets(deps.db, topic, [2])
  expect(await switchAll(deps)).toBe(0)
  await deps.db.updateTable('shard_offsets').set({ next_offset: 1 }).where('partition', '=', 2).execute()
  await expect(switchAll(deps)).rejects.toThrow(
    'partitions were added while the topics were read: run this command again',
  )
  await sql`truncate ${shadow('shard_offsets')}`.execute(deps.db)
  await expect(switchAll(deps)).rejects.toThrow(
    'Postgres has lost what was read from the topics (did it crash?): run this command again',
  )
})

test('an event with records in several shards is still marked as such if its head was lost', async () => {
  const deps = await caughtUp()
  const { db } = deps
  const [scattered, whole] = [randomUUID(), randomUUID()] as [EventId, EventId]
  await sql`
insert into ${shadow('event_heads')} (event_id, shard, revision, is_scattered)
values (${scattered}, 0, 1, true), (${whole}, 1, 1, false)`.execute(db)

  expect(await switchAll(deps)).toBe(2)
  const heads = await db.selectFrom('event_heads').select(['event_id', 'shard', 'is_scattered']).execute()
  expect(heads.toSorted((one, other) => one.shard - other.shard)).toEqual([
    { event_id: scattered, shard: 0, is_scattered: true },
    { event_id: whole, shard: 1, is_scattered: false },
  ])
})

test('records that the topics do not hold are removed only if that is asked for; otherwise nothing is switched', async () => {
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
  const organizationId = randomUUID()
  await sql`
insert into organizations (organization_id, version, name, status, revision)
values (${organizationId}, 3, 'lost', 'Trial', 5), (${randomUUID()}, 0, '', 'Trial', 5)`.execute(db)
  const closed = sql`(${first}::uuid, ${organizationId}::uuid, 2, 'UTC', '"closed"'::json)`
  await sql`
insert into events (event_id, organization_id, version, time_zone, document)
values ${closed}, (${second}, ${organizationId}, 1, 'UTC', '{}')`.execute(db)
  await sql`
insert into ${shadow('events')} (event_id, organization_id, version, time_zone, document)
values (${first}, ${organizationId}, 1, 'UTC', '"open"')`.execute(db)
  const rowsOf = async (query: RawBuilder<unknown>) => (await query.execute(db)).rows
  const orders = () => rowsOf(sql`select order_id, version, total_cents from orders order by order_id`)
  const events = () => db.selectFrom('events').select(['event_id', 'version']).orderBy('version').execute()
  const organizations = () => db.selectFrom('organizations').select('version').orderBy('version').execute()
  const all = async () => [await orders(), await events(), await organizations()]
  const before = await all()

  await expect(switchAll(deps)).rejects.toThrow(
    'the topics no longer hold 1 organization (tally.organizations), 2 events (tally.events), 3 orders (tally.orders), 2 refunds (tally.refunds) ' +
      'that Postgres has, or their latest version: their records were deleted or compacted, a topic was created again, ' +
      'or this version rejects them (see `tally records check --from-kafka`). Nothing was changed. To keep them, run `tally rebuild` without --from-kafka; to remove them, run ' +
      '`tally rebuild --from-kafka --yes`.',
  )
  expect(await all()).toEqual(before)
  expect(deps.onRemoved).not.toHaveBeenCalled()
  expect(await switchAll({ ...deps, mayRemove: true })).toBe(2)
  expect(deps.onRemoved).toHaveBeenCalledExactlyOnceWith(
    expect.stringMatching(/^1 organization .*, 3 orders \(tally.orders\), 2 refunds \(/),
  )
  expect(await events()).toEqual([{ event_id: first, version: 1 }])
  expect(await organizations()).toEqual([])
  expect(await orders()).toEqual([
    { order_id: 'damaged', version: 1, total_cents: 100 },
    { order_id: 'last version lost', version: 2, total_cents: 50 },
    { order_id: 'lost, but not its refund', version: 0, total_cents: 0 },
  ])
  expect(await rowsOf(sql`select refund_id, version from refunds`)).toEqual([
    { refund_id: 'taken back', version: 1 },
  ])
})

test('an organization that only the last event names is kept, one that nothing names is removed', async () => {
  const deps = await caughtUp()
  const { db } = deps
  const [named, unnamed] = [randomUUID(), randomUUID()]
  await sql`
insert into organizations (organization_id, version, name, status, revision)
values (${named}, 0, '', 'Trial', 5), (${unnamed}, 0, '', 'Trial', 5)`.execute(db)
  const reach = async (live: Map<string, number>) => {
    await sql`insert into ${shadow('organizations')} values (${named}, 0, '', 'Trial', 1)`.execute(db)
    return live
  }
  await switchAll({ ...deps, follower: { ...deps.follower, reach } })
  const rows = await db.selectFrom('organizations').select(['organization_id', 'revision']).execute()
  expect(rows).toEqual([{ organization_id: named, revision: expect.any(Number) }])
  expect(rows[0]?.revision).toBeGreaterThan(5)
})
