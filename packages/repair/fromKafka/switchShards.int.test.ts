import { randomUUID } from 'node:crypto'
import type { EventId } from '@tally/contract'
import { partitionKey, topicNames } from '@tally/kafka'
import { ensureOffsets } from '@tally/offsets'
import type { Postgres } from '@tally/platform'
import { freshDatabase } from '@tally/testkit/servers/database'
import { testRedis } from '@tally/testkit/servers/redis'
import { sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openShadow, shadowSchema } from './shadow.ts'
import { switchAll, switchOrganizations, switchShards } from './switchShards.ts'

const shadow = (table: string) => sql.id(shadowSchema, table)

/** Two shards that both sides have read to the same offsets. */
async function caughtUp() {
  const { db, drop } = await freshDatabase()
  onTestFinished(drop)
  const { redis, keys } = await testRedis()
  onTestFinished(() => redis.disconnect())
  const topics = topicNames('tally')
  for (const topic of [topics.events, topics.orders, topics.refunds]) await ensureOffsets(db, topic, [0, 1])
  await ensureOffsets(db, topics.organizations, [0])
  await openShadow(db, 'tally', async () => true)
  await sql`insert into ${shadow('shard_offsets')} select * from shard_offsets`.execute(db)
  const follower = { reach: async (live: Map<string, number>) => live, release() {} }
  return { db, redis, keys, locked: db, follower, topics, mayRemove: false, onRemoving: vi.fn() }
}

type Head = { shard: number; isScattered: boolean }

/** An event that both sides know, each as it says. */
async function eventOf(db: Postgres, sides: { live: Head; read: Head }): Promise<EventId> {
  const eventId = randomUUID() as EventId
  for (const [table, { shard, isScattered }] of [
    [sql`event_heads`, sides.live],
    [shadow('event_heads'), sides.read],
  ] as const) {
    await sql`
insert into ${table} (event_id, shard, revision, is_scattered)
values (${eventId}, ${shard}, 1, ${isScattered})`.execute(db)
  }
  return eventId
}

/** The revision that each shard got when it was switched. */
async function revisionsOf(db: Postgres): Promise<number[]> {
  const rows = db.selectFrom('shard_offsets').select('revision').where('topic', '=', 'tally.events')
  return (await rows.orderBy('partition').execute()).map(({ revision }) => revision)
}

const whole = { shard: 0, isScattered: false }
const others: { what: string; sides: { live: Head; read: Head } }[] = [
  {
    what: 'of which a batch of the other shard changed it',
    sides: { live: { shard: 0, isScattered: true }, read: whole },
  },
  {
    what: 'of which the shadow found some in the other shard',
    sides: { live: whole, read: { shard: 0, isScattered: true } },
  },
  {
    what: 'of which the first one was read from the other shard',
    sides: { live: { shard: 1, isScattered: false }, read: whole },
  },
]

test('shards are switched one by one', async () => {
  const deps = await caughtUp()
  await eventOf(deps.db, { live: whole, read: whole })
  await eventOf(deps.db, { live: { shard: 1, isScattered: false }, read: { shard: 1, isScattered: false } })
  expect(await switchAll(deps)).toBe(2)
  const [first = 0, second = 0] = await revisionsOf(deps.db)
  expect(second).toBeGreaterThan(first)
  expect(first).toBeGreaterThan(0)
  // A run that continues one that was killed meanwhile switches every shard again.
  expect(await switchAll(deps)).toBe(2)
  for (const revision of await revisionsOf(deps.db)) expect(revision).toBeGreaterThan(second)
})

test.for(others)('an event with records in two shards, $what, is switched with both', async ({ sides }) => {
  const deps = await caughtUp()
  await eventOf(deps.db, sides)
  await expect(switchShards(deps, [0], { isTogether: false })).rejects.toThrow(
    'an event has records in a shard that is not switched with this one',
  )
  expect(await revisionsOf(deps.db)).toEqual([0, 0])

  expect(await switchAll(deps)).toBe(1)
  const [first, second] = await revisionsOf(deps.db)
  expect(first).toBeGreaterThan(0)
  expect(second).toBe(first)
})

test('an order that came through another shard meanwhile makes the rebuild switch both, not refuse', async () => {
  const deps = await caughtUp()
  const eventId = await eventOf(deps.db, { live: { shard: 0, isScattered: true }, read: whole })
  await sql`
insert into orders (event_id, order_id, version, total_cents) values (${eventId}, 'newest', 1, 7)`.execute(
    deps.db,
  )
  await expect(switchShards(deps, [0], { isTogether: false })).rejects.toThrow('an event has records')
})

test('an event that was removed holds no shards together', async () => {
  const deps = await caughtUp()
  const eventId = await eventOf(deps.db, { live: { shard: 0, isScattered: true }, read: whole })
  await sql`insert into removed_events (event_id) values (${eventId})`.execute(deps.db)
  expect(await switchAll(deps)).toBe(0)
  const [first, second] = await revisionsOf(deps.db)
  expect(second).toBeGreaterThan(first ?? 0)
})

test('nothing is switched whole if records of a partition came that is not read', async () => {
  const deps = await caughtUp()
  for (const topic of [deps.topics.events, deps.topics.orders]) await ensureOffsets(deps.db, topic, [2])
  expect(await switchShards(deps, [0, 1], { isTogether: true })).toBe(0)
  await deps.db.updateTable('shard_offsets').set({ next_offset: 1 }).where('partition', '=', 2).execute()
  const refusal = 'partitions were added while the topics were read: run this command again'
  await expect(switchShards(deps, [0, 1], { isTogether: true })).rejects.toThrow(refusal)
  await expect(switchOrganizations(deps, [0, 1])).rejects.toThrow(refusal)
})

test('an event that the topics do not have leaves Redis with its shard', async () => {
  const deps = await caughtUp()
  const eventId = randomUUID() as EventId
  await sql`insert into event_heads (event_id, shard, revision) values (${eventId}, 0, 1)`.execute(deps.db)
  await deps.redis.hset(deps.keys.event(eventId), 'revision', '1')
  await switchShards(deps, [0], { isTogether: false })
  expect(await deps.redis.exists(deps.keys.event(eventId))).toBe(0)
})

test('an event with records in several shards is still marked as such if its head was lost', async () => {
  const deps = await caughtUp()
  const { db } = deps
  const [scattered, whole] = [randomUUID(), randomUUID()] as [EventId, EventId]
  await sql`
insert into ${shadow('event_heads')} (event_id, shard, revision, is_scattered)
values (${scattered}, 0, 1, true), (${whole}, 1, 1, false)`.execute(db)

  expect(await switchShards(deps, [0, 1], { isTogether: true })).toBe(2)
  const heads = await db.selectFrom('event_heads').select(['event_id', 'shard', 'is_scattered']).execute()
  expect(heads.toSorted((one, other) => one.shard - other.shard)).toEqual([
    { event_id: scattered, shard: 0, is_scattered: true },
    { event_id: whole, shard: 1, is_scattered: false },
  ])
})

test('records that the topics do not hold are removed only if that is asked for; otherwise no shard is switched', async () => {
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
  const orders = () =>
    db.selectFrom('orders').select(['order_id', 'version', 'total_cents']).orderBy('order_id').execute()
  const events = () => db.selectFrom('events').select(['event_id', 'version']).orderBy('version').execute()
  const organizations = () => db.selectFrom('organizations').select('version').orderBy('version').execute()
  const all = async () => [await orders(), await events(), await organizations()]
  const before = await all()

  await expect(switchAll(deps)).rejects.toThrow(
    'the topics no longer hold 1 organization (tally.organizations, partition 0), 1 event (tally.events, partition 0), ' +
      '1 event (tally.events, partition 1), 3 orders (tally.orders, partition 1), 2 refunds (tally.refunds, partition 1) ' +
      'that Postgres has, or their latest version: their records were deleted or compacted, a topic was created again, ' +
      'or this version rejects them (see `tally records check --from-kafka`). Nothing of these partitions was changed. To keep them, run `tally rebuild` without --from-kafka; to remove them, run ' +
      '`tally rebuild --from-kafka --yes`.',
  )
  expect(await all()).toEqual(before)
  // Also if they came to be lacking after all shards were counted.
  await expect(switchShards(deps, [1], { isTogether: false })).rejects.toThrow(
    'the topics no longer hold 1 event (tally.events, partition 1), 3 orders',
  )
  await expect(switchOrganizations(deps, [0, 1])).rejects.toThrow(
    'the topics no longer hold 1 organization (',
  )

  expect(deps.onRemoving).not.toHaveBeenCalled()
  expect(await switchAll({ ...deps, mayRemove: true })).toBe(2)
  expect(deps.onRemoving).toHaveBeenCalledExactlyOnceWith(
    expect.stringMatching(/^1 organization .*, 3 orders \(tally.orders, partition 1\), 2 refunds \(/),
  )
  expect(await events()).toEqual([{ event_id: first, version: 1 }])
  expect(await organizations()).toEqual([])
  expect(await orders()).toEqual([
    { order_id: 'damaged', version: 1, total_cents: 100 },
    { order_id: 'last version lost', version: 2, total_cents: 50 },
    { order_id: 'lost, but not its refund', version: 0, total_cents: 0 },
  ])
  expect(await db.selectFrom('refunds').select(['refund_id', 'version']).execute()).toEqual([
    { refund_id: 'taken back', version: 1 },
  ])
})

test('what may be removed is not counted while the projector waits', async () => {
  const deps = { ...(await caughtUp()), mayRemove: true }
  // Only a count reads the versions by name.
  for (const table of ['events', 'organizations'])
    await sql`alter table ${shadow(table)} rename version to v`.execute(deps.db)
  expect(await switchShards(deps, [0, 1], { isTogether: true })).toBe(0)
  await switchOrganizations(deps, [0, 1])
})

test('an organization that only the last event names is kept, one that nothing names is removed', async () => {
  const deps = await caughtUp()
  const { db, topics } = deps
  const [named, unnamed] = [randomUUID(), randomUUID()]
  await sql`
insert into organizations (organization_id, version, name, status, revision)
values (${named}, 0, '', 'Trial', 5), (${unnamed}, 0, '', 'Trial', 5)`.execute(db)
  const lastEvent = partitionKey({ topic: topics.events, partition: 1 })
  const organizations = partitionKey({ topic: topics.organizations, partition: 0 })
  const reach = async (live: Map<string, number>) => {
    if (live.has(lastEvent) && live.has(organizations))
      await sql`insert into ${shadow('organizations')} values (${named}, 0, '', 'Trial', 1) on conflict do nothing`.execute(
        db,
      )
    return live
  }
  await switchAll({ ...deps, follower: { ...deps.follower, reach } })
  const rows = await db.selectFrom('organizations').select(['organization_id', 'revision']).execute()
  expect(rows).toEqual([{ organization_id: named, revision: expect.any(Number) }])
  expect(rows[0]?.revision).toBeGreaterThan(5)
})
