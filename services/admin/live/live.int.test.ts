import { randomUUID } from 'node:crypto'
import type { EventId } from '@tally/contract'
import {
  asOfField,
  eventRevisionField,
  nextRevision,
  publishEvents,
  readEventHeads,
} from '@tally/read-models'
import { until } from '@tally/testkit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newEvent, newOffice, newVisitor, openStage, type Stage } from '../testing/stage.ts'
import type { Beat, DayRef, DayShown } from './day.ts'
import { openLiveHub } from './hub.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

/** An event with one open day, 41, on which nothing is sold yet. */
async function newDay(): Promise<DayRef> {
  const { organizationId } = await newOffice(stage)
  const eventId = await newEvent(stage, organizationId)
  await stage.db.insertInto('event_heads').values({ event_id: eventId, shard: 0, revision: 1 }).execute()
  return { eventId, dayId: 41 }
}

/** Sells in Postgres as the projector does, and tells Redis unless it is left out. */
async function sell({ eventId, dayId }: DayRef, orders: number, isPublished = true): Promise<void> {
  const { db } = stage
  await db.transaction().execute(async tx => {
    const revision = await nextRevision(tx)
    const none = { pre_order: 0, pending: 1, preparing: 0, ready_for_pickup: 0, completed: 0, cancelled: 0 }
    const row = { event_id: eventId, day_id: dayId, area_id: 0, ...none, items_sold: orders }
    const sold = { paid: orders, sales_cents: orders * 1_000 }
    await tx
      .insertInto('daily_counters')
      .values({ ...row, ...sold })
      .onConflict(of => of.columns(['event_id', 'day_id', 'area_id']).doUpdateSet(sold))
      .execute()
    await tx.updateTable('event_heads').set({ revision }).where('event_id', '=', eventId).execute()
  })
  if (isPublished) await publishEvents(stage.parts, new Map([[eventId, { whole: true }]]))
}

function look(ref: DayRef, live = stage.parts.live) {
  const shown: DayShown[] = []
  const beats: Beat[] = []
  const end = live.watch(ref, { onShown: one => shown.push(one), onBeat: one => beats.push(one) })
  const orders = () => shown.at(-1)?.kpis.totalOrders
  return { shown, beats, end, orders }
}

test('what is in Redis is told at once, and what changes there soon after, once each', async () => {
  const ref = await newDay()
  await sell(ref, 2)
  const screen = look(ref)
  await until('it is told', () => screen.orders() === 2)
  expect(screen.shown[0]).toMatchObject({
    eventName: 'Sagra del Pesce',
    date: '2026-09-04',
    isOpen: true,
    kpis: { totalSales: 20 },
    statuses: { Paid: 2, Pending: 1 },
  })
  await sell(ref, 3)
  await until('it is told', () => screen.orders() === 3)
  await until('a beat comes without news', () => screen.beats.length > 3)
  expect(screen.shown).toHaveLength(2)
  screen.end()
})

test('a second screen of the same day has its figures at once', async () => {
  const ref = await newDay()
  await sell(ref, 2)
  const first = look(ref)
  await until('it is told', () => first.orders() === 2)
  const second = look(ref)
  expect([second.orders(), second.beats.length]).toEqual([2, 1])
  first.end()
  second.end()
})

test('what Redis lost comes from Postgres and is put back', async () => {
  const ref = await newDay()
  await sell(ref, 4, false)
  const screen = look(ref)
  await until('it is told', () => screen.orders() === 4)
  const key = stage.parts.keys.event(ref.eventId)
  await until('Redis has it again', async () => (await stage.parts.redis.hget(key, 'complete')) === '1')
  screen.end()
})

test('without Redis a screen goes on from Postgres', async () => {
  const ref = await newDay()
  await sell(ref, 1)
  const down = () => Promise.reject(new Error('down'))
  const redis = { hget: down, hmget: down } as unknown as Stage['parts']['redis']
  const live = openLiveHub({ ...stage.parts, redis, topics: [`${stage.parts.topicPrefix}.events`] })
  const screen = look(ref, live)
  await until('it is told', () => screen.orders() === 1)
  await sell(ref, 2)
  await until('it is told', () => screen.orders() === 2)
  screen.end()
  await live.close()
})

test('while Postgres cannot tell the orders by status, a screen shows the rest, and them when it can', async () => {
  const ref = await newDay()
  await sell(ref, 5)
  const { openPostgres } = await import('@tally/read-models')
  const noDb = openPostgres('postgres://nobody@127.0.0.1:1/x', {
    name: 'test',
    max: 1,
    statementTimeoutMs: 500,
    onError: () => {},
  })
  let isDown = true
  const parts = { ...stage.parts, topics: [`${stage.parts.topicPrefix}.events`] }
  const get = (_: unknown, name: string) => {
    const from = isDown ? noDb : stage.db
    const value = Reflect.get(from, name)
    return typeof value === 'function' ? value.bind(from) : value
  }
  const db = new Proxy(stage.db, { get: get as never })
  const live = openLiveHub({ ...parts, db })
  const screen = look(ref, live)
  await until('it is told', () => screen.orders() === 5)
  expect(screen.shown.at(-1)?.statuses).toBeNull()
  isDown = false
  await until('it is told', () => screen.shown.at(-1)?.statuses?.Paid === 5)
  screen.end()
  await live.close()
  await noDb.destroy()
})

test('a screen never goes back to what Redis said before', async () => {
  const ref = await newDay()
  await sell(ref, 7)
  const old = await stage.parts.redis.hgetall(stage.parts.keys.event(ref.eventId))
  await sell(ref, 8)
  const screen = look(ref)
  await until('it is told', () => screen.orders() === 8)
  await stage.parts.redis.del(stage.parts.keys.event(ref.eventId))
  await stage.parts.redis.hset(stage.parts.keys.event(ref.eventId), old)
  const beats = screen.beats.length
  await until('it was looked at', () => screen.beats.length > beats + 1)
  expect(screen.orders()).toBe(8)
  screen.end()
})

/** A day that Redis has at its latest revision, with a watermark, and what it had at the revision before. */
async function publishedDay() {
  const { redis, keys, topicPrefix } = stage.parts
  const ref = await newDay()
  const key = keys.event(ref.eventId)
  await sell(ref, 7)
  const before = await redis.hgetall(key)
  await sell(ref, 8)
  const revision = (await redis.hget(key, 'revision')) ?? ''
  const watermark = [asOfField(`${topicPrefix}.events`), 2_000]
  await redis.hset(keys.shard(0), eventRevisionField(ref.eventId), revision, ...watermark)
  return { ref, key, before }
}

test.each([
  ['is older than its shard says', ({ before }: Published) => before],
  ['is of a later epoch than its shard', () => ({ epoch: Number.MAX_SAFE_INTEGER })],
  ['cannot be checked', async ({ ref }: Published) => ({ event: await scatter(ref) })],
])('an event that %s is shown as Postgres has it, with the watermark of Postgres', async (_, harm) => {
  const published = await publishedDay()
  await stage.parts.redis.hset(published.key, { 'kpis:41:0': '{}', ...(await harm(published)) })
  const screen = look(published.ref)
  await until('it is shown', () => screen.shown.length > 0)
  expect([screen.orders(), screen.beats[0]?.asOfMs]).toEqual([8, null])
  screen.end()
})
type Published = Awaited<ReturnType<typeof publishedDay>>

/** Marks an event in Redis as one whose records came through several shards. */
async function scatter({ eventId }: DayRef): Promise<string> {
  const [head] = await readEventHeads(stage.db, [eventId])
  return JSON.stringify({ ...head?.event, isScattered: true })
}

test('when Postgres has lost commits, a screen says what Postgres says', async () => {
  const { ref, key, before } = await publishedDay()
  const screen = look(ref)
  await until('it is shown', () => screen.orders() === 8 && screen.beats.at(-1)?.asOfMs === 2_000)
  await stage.db.updateTable('daily_counters').set({ paid: 7 }).where('event_id', '=', ref.eventId).execute()
  const revision = Number(before.revision)
  await stage.db.updateTable('event_heads').set({ revision }).where('event_id', '=', ref.eventId).execute()
  await stage.parts.redis.del(key)
  await until('the screen says it', () => screen.orders() === 7)
  expect(screen.beats.at(-1)?.asOfMs).toBeNull()
  screen.end()
})

test('a stream is for who is signed in and for own events; others get no byte of it', async () => {
  const ref = await newDay()
  const { email } = await newOffice(stage)
  const stranger = newVisitor(stage.app)
  const path = `/live/stream?eventId=${ref.eventId}&day=41`
  expect((await stranger.get(path)).statusCode).toBe(401)
  await stranger.signIn(email)
  for (const eventId of [ref.eventId, randomUUID() as EventId, 'x'])
    expect((await stranger.get(`/live/stream?eventId=${eventId}&day=41`)).statusCode).toBe(404)
})
