import type { EventId } from '@tally/contract'
import { ensureOffsets, readOffsets } from '@tally/offsets'
import { projectBatch } from '@tally/projection'
import { publishEvents } from '@tally/publication'
import { batchOf, type Harness, openHarness, shard, topics } from '@tally/testkit/projection/harness'
import { anEvent, anOrder, newEventId } from '@tally/testkit/records/records'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPublisher, type Publisher } from './publish/publisher.ts'

let harness: Harness
let nextOffset = 0
let nextEvent = 0
const orders = { topic: topics.orders, partition: shard }

beforeAll(async () => {
  harness = await openHarness()
  for (const topic of [topics.events, topics.orders]) await ensureOffsets(harness.db, topic, [shard])
})
afterAll(() => harness.close())

/** Commits the record of a new event: without it nothing is published. */
async function newFestival(): Promise<EventId> {
  const eventId = newEventId() as EventId
  const batch = batchOf(topics.events, nextEvent++, [anEvent({ eventId })])
  await projectBatch(harness.deps, 'events', batch)
  return eventId
}

/** Commits one more order of the event; publishes it if a publisher is given. */
async function sell(eventId: string, publisher?: Publisher): Promise<void> {
  const order = anOrder({ eventId, orderId: `A-${nextOffset}` })
  const { next, effects } = await projectBatch(
    harness.deps,
    'orders',
    batchOf(topics.orders, nextOffset, [order]),
  )
  nextOffset = next
  if (effects !== undefined) publisher?.add(orders, effects)
}

/** What the watch does: flush, compare with Postgres, flush what was missing. */
async function watchOnce(publisher: Publisher): Promise<void> {
  const stored = (await readOffsets(harness.db, [topics.orders])).find(({ partition }) => partition === shard)
  await publisher.flush()
  if (await publisher.heal(orders, stored?.revision ?? 0)) await publisher.flush()
}

async function ordersInRedis(eventId: string): Promise<number> {
  return JSON.parse((await harness.readEvent(eventId))['kpis:41:0'] ?? '{}').totalOrders
}

test('what a killed projector did not publish is published, even if its successor publishes another event first', async () => {
  const [fish, wine] = [await newFestival(), await newFestival()]
  const first = createPublisher(harness)
  await sell(fish, first)
  await sell(wine, first)
  await watchOnce(first)
  await sell(fish)

  const second = createPublisher(harness)
  await sell(wine, second)
  await watchOnce(second)

  expect([await ordersInRedis(fish), await ordersInRedis(wine)]).toEqual([2, 2])
})

test('a Redis that is put back to an older snapshot is brought up to date, even if a batch arrives before that is noticed', async () => {
  const [fish, wine] = [await newFestival(), await newFestival()]
  const publisher = createPublisher(harness)
  await sell(fish, publisher)
  await sell(wine, publisher)
  await watchOnce(publisher)
  const keys = [harness.keys.event(fish), harness.keys.event(wine), harness.keys.shard(shard)]
  const snapshot = await Promise.all(keys.map(key => harness.redis.dumpBuffer(key)))
  await sell(fish, publisher)
  await watchOnce(publisher)
  for (const [index, key] of keys.entries())
    await harness.redis.restore(key, 0, snapshot[index] ?? '', 'REPLACE')

  await sell(wine, publisher)
  await watchOnce(publisher)

  expect([await ordersInRedis(fish), await ordersInRedis(wine)]).toEqual([2, 2])
})

test('an event that has to be published whole is, whatever has been added about it since', async () => {
  const eventId = await newFestival()
  const publisher = createPublisher(harness)
  await sell(eventId, publisher)
  await publisher.flush()
  const key = harness.keys.event(eventId)
  const revision = Number(await harness.redis.hget(key, 'revision'))
  await harness.redis.hset(key, 'kpis:41:0', '{"totalOrders":77}')

  const difference = { whole: false as const, since: revision, to: revision, areas: new Map(), event: false }
  await publishEvents({ ...harness, latest: () => difference }, new Map([[eventId, { whole: true }]]))

  expect(await ordersInRedis(eventId)).toBe(1)
})

test('an event with a thousand days and many areas is published like any other', async () => {
  const eventId = await newFestival()
  await sql`
insert into daily_counters
select ${eventId}::uuid, day, area, 0, 0, 1, 0, 0, 0, 0, 100, 1
from generate_series(1, 1000) as day, generate_series(0, 70) as area`.execute(harness.db)

  await publishEvents(harness, new Map([[eventId, { whole: true }]]))

  const field = await harness.redis.hget(harness.keys.event(eventId), 'kpis:1000:70')
  expect(JSON.parse(field ?? '{}')).toMatchObject({ totalOrders: 1, totalSales: 1 })
})
