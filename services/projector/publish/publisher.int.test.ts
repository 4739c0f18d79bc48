import type { EventId } from '@tally/contract'
import { ensureOffsets, readOffsets } from '@tally/offsets'
import { type Effects, projectBatch } from '@tally/projection'
import { complete, eventRevisionField, publishedField } from '@tally/publication'
import { batchOf, type Harness, openHarness, shard, topics } from '@tally/testkit/projection/harness'
import { anEvent, anOrder, newEventId } from '@tally/testkit/records/records'
import { openWholeRedis } from '@tally/testkit/servers/redis'
import { openRelay } from '@tally/testkit/servers/relay'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, inject, test, vi } from 'vitest'
import { createPublisher, type Publisher } from './publisher.ts'

let harness: Harness
let eventId: string
let organizationId: string
let nextOrder = 0
const ofOrders = { topic: topics.orders, partition: shard }
const ofEvents = { topic: topics.events, partition: shard }

beforeAll(async () => {
  harness = await openHarness()
  for (const topic of Object.values(topics)) await ensureOffsets(harness.db, topic, [shard])
})
beforeEach(async () => {
  eventId = newEventId()
  organizationId = newEventId()
})
afterAll(() => harness.close())

/** Applies one more order of 17 euros; returns what it changed. */
async function applyOrder(fields: Record<string, unknown> = {}) {
  const batch = batchOf(topics.orders, nextOrder, [
    anOrder({ eventId, orderId: `A-${nextOrder}`, ...fields }),
  ])
  nextOrder += 1
  return (await projectBatch(harness.deps, 'orders', batch)).effects
}

/** Applies one more order, and adds what it changed to the publisher, if one is given. */
async function sell(
  publisher?: Publisher,
  fields: Record<string, unknown> = {},
  lag?: { isBehind: boolean },
): Promise<void> {
  const effects = await applyOrder(fields)
  if (effects !== undefined) publisher?.add(ofOrders, effects, lag)
}

async function openFestival(publisher?: Publisher): Promise<void> {
  const from = (await storedOf(topics.events))?.nextOffset ?? 0
  const batch = batchOf(topics.events, from, [anEvent({ eventId, organizationId })])
  const { effects } = await projectBatch(harness.deps, 'events', batch)
  if (effects !== undefined) publisher?.add(ofEvents, effects)
}

/** A publisher that has published the event, with an order of these fields. */
async function publisherOf(fields: Record<string, unknown> = {}): Promise<Publisher> {
  const publisher = createPublisher(harness)
  await openFestival(publisher)
  await sell(publisher, fields)
  await publisher.flush()
  return publisher
}

async function storedOf(topic: string) {
  return (await readOffsets(harness.db, [topic])).find(({ partition }) => partition === shard)
}

/** What the watch does: heal both partitions, then flush. */
async function heal(publisher: Publisher): Promise<boolean> {
  const healed = [
    await publisher.heal(ofOrders, (await storedOf(topics.orders))?.revision ?? 0),
    await publisher.heal(ofEvents, (await storedOf(topics.events))?.revision ?? 0),
  ]
  await publisher.flush()
  return healed.includes(true)
}

/** A publisher that learns of more changes after it has read an event from Postgres, before it stores its documents. */
function openPublisherThatLearns(more: Effects): Publisher {
  const enterEpoch: typeof harness.redis.enterEpoch = (...of) => {
    publisher.add(ofOrders, more)
    return harness.redis.enterEpoch(...of)
  }
  const redis = Object.assign(Object.create(harness.redis), { enterEpoch })
  const publisher = createPublisher({ ...harness, redis })
  return publisher
}

async function published() {
  const { revision, complete: mark, ...documents } = await harness.readEvent(eventId)
  const kpis = JSON.parse(documents['kpis:41:0'] ?? '{}')
  return {
    revision: Number(revision),
    isComplete: mark === complete,
    orders: kpis.totalOrders,
    sales: kpis.totalSales,
  }
}
async function revisionInPostgres(): Promise<number | undefined> {
  const row = await harness.db
    .selectFrom('event_heads')
    .select('revision')
    .where('event_id', '=', eventId)
    .executeTakeFirst()
  return row?.revision
}

/** What is published of an event of which Postgres has so much, if nothing is missing. */
const whole = async (orders: number, sales: number) => ({
  revision: await revisionInPostgres(),
  isComplete: true,
  orders,
  sales,
})

test('what a batch changed is published at its revision', async () => {
  await publisherOf()
  expect(await published()).toEqual(await whole(1, 17))
})

test('of an event without a record Redis has nothing; its record brings everything', async () => {
  const publisher = createPublisher(harness)
  const id = eventId as EventId
  await harness.redis.hset(harness.keys.event(id), 'revision', '1')
  await sell(publisher)
  await publisher.flush()
  expect(await harness.redis.exists(harness.keys.event(id))).toBe(0)
  await harness.redis.hdel(harness.keys.shard(shard), publishedField(topics.orders))
  await heal(publisher)
  await publisher.drain()
  expect(await harness.redis.exists(harness.keys.event(id))).toBe(0)

  await openFestival(publisher)
  await publisher.flush()
  expect(await published()).toEqual(await whole(1, 17))
})

test.each([
  ['a publisher that knows only the last of several batches', true],
  ['a publisher that knows two batches, and not the one between them,', false],
])('%s publishes the event whole', async (_, hasPublishedTheFirst) => {
  const publisher = createPublisher(harness)
  await openFestival(publisher)
  if (!hasPublishedTheFirst) await publisher.flush()
  await sell(publisher, { areaId: 1 })
  if (hasPublishedTheFirst) await publisher.flush()
  await sell(undefined, { areaId: 2 })
  await sell(publisher, { areaId: 1 })
  await publisher.flush()
  const documents = await harness.readEvent(eventId)
  expect(JSON.parse(documents['kpis:41:0'] ?? '')).toMatchObject({ totalOrders: 3 })
  expect(JSON.parse(documents['kpis:41:2'] ?? '{}')).toMatchObject({ totalOrders: 1 })
})

test('an event that changes while it is published is published with that change, not whole', async () => {
  await publisherOf({ areaId: 2 })
  await harness.redis.hset(harness.keys.event(eventId as EventId), 'kpis:41:2', 'as before')
  const [one, other] = [await applyOrder({ areaId: 1 }), await applyOrder({ areaId: 1 })]
  const publisher = openPublisherThatLearns(other as Effects)

  publisher.add(ofOrders, one as Effects)
  await publisher.flush()

  const documents = await harness.readEvent(eventId)
  expect(JSON.parse(documents['kpis:41:1'] ?? '')).toMatchObject({ totalOrders: 2 })
  expect(documents['kpis:41:2']).toBe('as before')
  expect(await published()).toMatchObject({ orders: 3, revision: await revisionInPostgres() })
})

test('a mark vouches for an event that the flush before has published with its change, if Redis lost that', async () => {
  await publisherOf()
  const ofShard = harness.keys.shard(shard)
  const [hash, before] = [harness.keys.event(eventId as EventId), await revisionInPostgres()]
  const lost = await Promise.all([hash, ofShard].map(key => harness.redis.dumpBuffer(key)))
  const [one, other] = [await applyOrder(), await applyOrder()]
  const publisher = openPublisherThatLearns(other as Effects)
  publisher.add(ofOrders, one as Effects)
  await publisher.flush()
  await harness.redis.restore(hash, 0, lost[0] ?? '', 'REPLACE')
  await harness.redis.restore(ofShard, 0, lost[1] ?? '', 'REPLACE')

  await publisher.flush()
  expect(await harness.redis.hget(hash, 'revision')).toBe(String(before))
  expect(await harness.redis.hget(ofShard, eventRevisionField(eventId as EventId))).toBe(
    String(await revisionInPostgres()),
  )
})

test('Redis that lost all of its data is filled again', async () => {
  const publisher = await publisherOf()
  const before = await harness.readEvent(eventId)
  const lost = await harness.redis.keys(`${harness.keys.shard(shard).split(':')[0]}:*`)
  await harness.redis.del(...lost)

  expect(await heal(publisher)).toBe(true)
  expect(await harness.readEvent(eventId)).toEqual(before)
  const id = organizationId as Parameters<typeof harness.keys.organization>[0]
  const list = await harness.redis.hget(harness.keys.organization(id), 'events')
  expect(JSON.parse(list ?? '')).toMatchObject([{ id: eventId, name: 'Sagra del Pesce' }])
})

test('a late publisher never replaces newer figures with older ones', async () => {
  const [late, quick] = [createPublisher(harness), createPublisher(harness)]
  await openFestival(late)
  await sell(late)
  await sell(quick)
  await heal(quick)
  await late.flush()
  expect(await published()).toMatchObject({ orders: 2, revision: await revisionInPostgres() })
})

test('what could not be published is kept, with what is added meanwhile, and published by the next flush', async () => {
  const { redisUrl } = inject('servers')
  const relay = await openRelay(redisUrl)
  const redis = openWholeRedis(relay.through(redisUrl), {
    name: 'test',
    commandTimeoutMs: 2_000,
    onError: () => {},
  })
  await vi.waitFor(() => expect(redis.status).toBe('ready'), 120_000)
  const publisher = createPublisher({ db: harness.db, redis, keys: harness.keys })
  await openFestival(publisher)
  await sell(publisher)
  await relay.cut()
  const failing = expect(publisher.flush()).rejects.toThrow()
  await sell(publisher)
  await failing
  await relay.mend()
  await vi.waitFor(() => expect(redis.status).toBe('ready'), 120_000)
  await publisher.flush()
  expect(await published()).toEqual(await whole(2, 34))
  expect(await heal(publisher)).toBe(false)
  redis.disconnect()
  await relay.close()
})

test.each([
  [
    'a time zone that this process lacks',
    sql`update events set time_zone = 'Europe/Atlantis'`,
    'no Europe/Atl',
  ],
  ['a sum above 2^53 cents', sql`update daily_counters set sales_cents = 9007199254740992`, 'beyond 2^53'],
])('an event with %s holds up no other, and is published once it can be', async (_, damage, reason) => {
  const errors: string[] = []
  const onUncomposable = (id: EventId, error: unknown) => errors.push(`${id} ${error}`)
  const publisher = createPublisher({ ...harness, onUncomposable })
  await openFestival(publisher)
  await sell(publisher)
  await heal(publisher)
  const broken = { eventId: eventId as EventId, organizationId }
  const hash = harness.keys.event(broken.eventId)
  await sql`${damage} where event_id = ${broken.eventId}::uuid`.execute(harness.db)
  await sell(publisher)
  ;[eventId, organizationId] = [newEventId(), newEventId()]
  await openFestival(publisher)
  await sell(publisher)
  await publisher.flush()
  expect(await published()).toEqual(await whole(1, 17))
  expect(await harness.redis.exists(hash)).toBe(0)
  expect(errors).toEqual([expect.stringContaining(broken.eventId)])
  expect(errors).toEqual([expect.stringContaining(reason)])
  expect(await heal(publisher)).toBe(false)

  // As the walk does in each of its rounds.
  publisher.again({ events: [broken.eventId] })
  await publisher.drain()
  expect(await harness.redis.exists(hash)).toBe(0)
  await sql`
update events set time_zone = 'UTC' where event_id = ${broken.eventId}::uuid`.execute(harness.db)
  await sql`
update daily_counters set sales_cents = 3400 where event_id = ${broken.eventId}::uuid`.execute(harness.db)
  publisher.again({ events: [broken.eventId] })
  await publisher.drain()
  ;({ eventId, organizationId } = broken)
  expect(await published()).toEqual(await whole(2, 34))
  await sell(publisher)
  await publisher.flush()
  expect(await published()).toEqual(await whole(3, 51))
})

test('changes of a partition that is behind wait for the batch that catches up', async () => {
  const publisher = createPublisher(harness)
  await openFestival(publisher)
  await publisher.flush()
  await sell(publisher, {}, { isBehind: true })
  await sell(publisher, {}, { isBehind: true })
  await publisher.flush()
  const { revision = 0 } = (await storedOf(topics.orders)) ?? {}
  expect((await published()).orders).toBeUndefined()
  expect(publisher.holdsBack(ofOrders, revision)).toBe(true)
  expect(publisher.holdsBack(ofEvents, revision)).toBe(false)

  await sell(publisher)
  await publisher.flush()
  expect(publisher.holdsBack(ofOrders, Number.POSITIVE_INFINITY)).toBe(false)
  expect(await published()).toMatchObject({ revision: await revisionInPostgres(), orders: 3 })
  expect(await heal(publisher)).toBe(false)
})

test('changes of a partition that is behind wait two seconds at most', async () => {
  const publisher = createPublisher(harness)
  await openFestival(publisher)
  await publisher.flush()
  const began = performance.now()
  await sell(publisher, {}, { isBehind: true })
  const heldMs = performance.now()
  const flushesMs: number[] = []
  await until('it is published', async () => {
    flushesMs.push(performance.now())
    await publisher.flush()
    return (await published()).orders === 1
  })
  expect(performance.now() - began).toBeGreaterThanOrEqual(2_000)
  // The first flush after two seconds has published it.
  expect(flushesMs.at(-2)).toBeLessThan(heldMs + 2_000)
})
