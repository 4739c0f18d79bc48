import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type ClientRequest, get } from 'node:http'
import type { EventId } from '@tally/contract'
import { readEventHeads, type StoredEvent, versionOf } from '@tally/figures'
import { asOfField, complete, eventRevisionField } from '@tally/publication'
import { noPostgres } from '@tally/testkit/servers/database'
import { succeeds, until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { compositions } from '../screens/compositions.ts'
import { beginSession } from '../signIn/sessions.ts'
import { type Fixture, newEvent, newOffice, newVisitor, openFixture, useFixture } from '../test/fixture.ts'
import { newDay as newDayIn, sell as sellIn } from '../test/sell.ts'
import type { Beat, Composition, DayRef, DayShown } from './day.ts'
import { openLiveHub } from './hub.ts'
import { createSharedPlaces } from './places.ts'
import { createDayReader } from './reader.ts'

const fixture = useFixture()

const newDay = () => newDayIn(fixture)
const sell = (ref: DayRef, orders: number, isPublished = true) => sellIn(fixture, ref, orders, isPublished)

function look(ref: DayRef, live = fixture.deps.live, composition?: Composition) {
  const shown: DayShown[] = []
  const beats: Beat[] = []
  const read = (events: Buffer) => {
    for (const [, event, json = ''] of events.toString().matchAll(/event: (.*)\ndata: (.*)\n\n/g))
      if (event === 'day') shown.push(JSON.parse(json))
      else beats.push(JSON.parse(json))
  }
  const end = live.watch(ref, { onDay: read, onBeat: read }, composition)
  const orders = () => shown.at(-1)?.kpis.totalOrders
  return { shown, beats, end, orders }
}

test('a screen gets what Redis has at once, and each later change once', async () => {
  const ref = await newDay()
  await sell(ref, 2)
  const screen = look(ref)
  await until('it is shown', () => screen.orders() === 2)
  expect(screen.shown[0]).toMatchObject({
    eventName: 'Sagra del Pesce',
    date: '2026-09-04',
    closedAt: null,
    kpis: { totalSales: 20 },
    payments: [{ paymentMethod: 'Cash', orders: 2, takings: 20 }],
    statuses: { Paid: 2, Pending: 1 },
  })
  await sell(ref, 3)
  await until('it is shown', () => screen.orders() === 3)
  await until('beats come without changes', () => screen.beats.length > 3)
  expect(screen.shown).toHaveLength(2)
  screen.end()
})

test('screens share the figures of one day, area and composition, at once, and no others', async () => {
  const ref = await newDay()
  await sell(ref, 2)
  const { live } = fixture.deps
  const of = [ref, { ...ref, dayId: 42 }, { ...ref, areaId: 1 }].map(one => look(one))
  const screens = [...of, look(ref, live, compositions.portions)]
  await until('all are shown', () => screens.every(({ shown }) => shown.length > 0))
  const figures = screens.map(({ shown: [day] }) => `${day?.dayId}: ${day?.kpis?.totalOrders}`)
  expect(figures).toEqual(['41: 2', '42: 0', '41: 0', '41: undefined'])
  const second = look(ref)
  expect([second.orders(), second.beats.length > 0]).toEqual([2, true])
  for (const { end } of [...screens, second]) end()
})

test('what Redis lost comes from Postgres and is published again', async () => {
  const ref = await newDay()
  await sell(ref, 4, false)
  const screen = look(ref)
  await until('it is shown', () => screen.orders() === 4)
  const key = fixture.deps.keys.event(ref.eventId)
  await until('Redis has it again', async () => (await fixture.deps.redis.hget(key, 'complete')) === complete)
  screen.end()
})

/** The database, which may go down. */
function breakable() {
  const state = { isDown: false, failures: 0 }
  const get = (from: Fixture['db'], name: keyof Fixture['db']) => {
    if (state.isDown) state.failures += 1
    if (state.isDown) throw new Error('down')
    const value = Reflect.get(from, name)
    return typeof value === 'function' ? value.bind(from) : value
  }
  return { state, db: new Proxy(fixture.db, { get: get as never }) }
}

test('without Redis a screen continues from Postgres, and says how old its figures are if that is down too', async () => {
  const ref = await newDay()
  await sell(ref, 1)
  const down = () => Promise.reject(new Error('down'))
  const redis = { hget: down, hmget: down } as unknown as Fixture['deps']['redis']
  const { state, db } = breakable()
  const live = openLiveHub({ ...fixture.deps, db, redis, topics: [`${fixture.deps.topicPrefix}.events`] })
  const screen = look(ref, live)
  await until('it is shown', () => screen.orders() === 1)
  await sell(ref, 2)
  await until('it is shown', () => screen.orders() === 2)
  state.isDown = true
  await until('a look fails', () => state.failures > 0)
  const nowMs = Date.now()
  const late = look(ref, live)
  expect(late.orders()).toBe(2)
  expect(late.beats.at(-1)?.nowMs).toBeGreaterThanOrEqual(nowMs)
  for (const { end } of [screen, late]) end()
  await live.close()
})

test('while neither Redis nor Postgres answers, no look at a day succeeds', async () => {
  const ref = await newDay()
  await sell(ref, 3)
  const { state, db } = breakable()
  const deps = { ...fixture.deps, db, topics: [`${fixture.deps.topicPrefix}.events`] }
  const fromRedis = () => Promise.reject(new Error('down'))
  const look = createDayReader(deps, { fromRedis, statusesOf: () => Promise.reject(new Error('down')) }, ref)
  expect((await look()).shown).toContain('"totalOrders":3')
  state.isDown = true
  await until('Postgres was asked again', async () => !(await succeeds(look())))
  for (let times = 0; times < 5; times++) expect(await succeeds(look())).toBe(false)
})

test('while Postgres does not answer, a screen lacks only the orders by status, and gets them later', async () => {
  const ref = await newDay()
  await sell(ref, 5)
  const noDb = noPostgres()
  let isDown = true
  const deps = { ...fixture.deps, topics: [`${fixture.deps.topicPrefix}.events`] }
  const get = (_: unknown, name: string) => {
    const from = isDown ? noDb : fixture.db
    const value = Reflect.get(from, name)
    return typeof value === 'function' ? value.bind(from) : value
  }
  const db = new Proxy(fixture.db, { get: get as never })
  const live = openLiveHub({ ...deps, db })
  const screen = look(ref, live)
  await until('it is shown', () => screen.orders() === 5)
  expect(screen.shown.at(-1)?.statuses).toBeNull()
  isDown = false
  await until('it is shown', () => screen.shown.at(-1)?.statuses?.Paid === 5)
  screen.end()
  await live.close()
  await noDb.destroy()
})

test('a screen never goes back with a Redis that returned to an older state', async () => {
  const ref = await newDay()
  await sell(ref, 7)
  const old = await fixture.deps.redis.hgetall(fixture.deps.keys.event(ref.eventId))
  await sell(ref, 8)
  const screen = look(ref)
  await until('it is shown', () => screen.orders() === 8)
  await fixture.deps.redis.del(fixture.deps.keys.event(ref.eventId))
  await fixture.deps.redis.hset(fixture.deps.keys.event(ref.eventId), old)
  const beats = screen.beats.length
  await until('it was looked at', () => screen.beats.length > beats + 1)
  expect(screen.orders()).toBe(8)
  screen.end()
})

/** A day that Redis has at its latest revision, with a watermark, and what it had at the revision before. */
async function publishedDay() {
  const { redis, keys, topicPrefix } = fixture.deps
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
  ['cannot be checked', ({ ref }: Published) => scatter(ref)],
])('an event that %s is shown as Postgres has it, with the watermark of Postgres', async (_, harm) => {
  const published = await publishedDay()
  await fixture.deps.redis.hset(published.key, { 'kpis:41:0': '{}', ...(await harm(published)) })
  const screen = look(published.ref)
  await until('it is shown', () => screen.shown.length > 0)
  expect([screen.orders(), screen.beats[0]?.asOfMs]).toEqual([8, null])
  screen.end()
})
type Published = Awaited<ReturnType<typeof publishedDay>>

/** Marks an event in Redis as one whose records came through several shards. */
async function scatter({ eventId }: DayRef) {
  const [head] = await readEventHeads(fixture.db, [eventId])
  const event = { ...(head?.event as StoredEvent), isScattered: true } as const
  return { version: versionOf(event), event: JSON.stringify(event) }
}

test('a screen does not keep a watermark that is later than the clock once Redis has the right one', async () => {
  const { redis, keys, topicPrefix } = fixture.deps
  const { ref } = await publishedDay()
  const set = (asOfMs: number) => redis.hset(keys.shard(0), asOfField(`${topicPrefix}.events`), asOfMs)
  const future = Date.now() + 3_600_000
  await set(future)
  const screen = look(ref)
  await until('it is shown', () => screen.beats.at(-1)?.asOfMs === future)
  await set(2_000)
  await until('the right one is shown', () => screen.beats.at(-1)?.asOfMs === 2_000)
  screen.end()
})

test('after Postgres lost commits, a screen shows what Postgres has', async () => {
  const { ref, key, before } = await publishedDay()
  const screen = look(ref)
  await until('it is shown', () => screen.orders() === 8 && screen.beats.at(-1)?.asOfMs === 2_000)
  await sql`update daily_counters set paid = 7 where event_id = ${ref.eventId}`.execute(fixture.db)
  const revision = Number(before.revision)
  await fixture.db.updateTable('event_heads').set({ revision }).where('event_id', '=', ref.eventId).execute()
  await fixture.deps.redis.del(key)
  await until('the screen shows it', () => screen.orders() === 7)
  expect(screen.beats.at(-1)?.asOfMs).toBeNull()
  screen.end()
})

test('however fast screens of a day come and go, one loop reads it, which ends, and begins again', async () => {
  const ref = await newDay()
  await sell(ref, 2)
  let loops = 0
  let readAtMs = 0
  const redis = new Proxy(fixture.deps.redis, {
    get(target, name) {
      // Only the first look of a loop reads the event alone.
      if (name === 'hget') loops += 1
      readAtMs = performance.now()
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const live = openLiveHub({ ...fixture.deps, redis, topics: [`${fixture.deps.topicPrefix}.events`] })
  for (let times = 0; times < 50; times++) look(ref, live).end()
  const screen = look(ref, live)
  await until('it is shown', () => screen.orders() === 2)
  expect(loops).toBe(1)
  screen.end()
  await until('nothing reads it', () => performance.now() - readAtMs > 600)
  await sell(ref, 3)
  const later = look(ref, live)
  await until('it is shown', () => later.orders() === 3)
  later.end()
  await live.close()
})

test('a session opens 20 live screens, its organization 200; a closed one makes room', {
  timeout: 60_000,
}, async () => {
  const office = await newOffice(fixture)
  const eventId = await newEvent(fixture, office.organizationId)
  const address = await fixture.app.listen({ host: '127.0.0.1', port: 0 })
  const { administrator_id } = await fixture.db
    .selectFrom('administrators')
    .select('administrator_id')
    .where('email', '=', office.email)
    .executeTakeFirstOrThrow()
  const screens: ClientRequest[] = []
  // Without fetch, which opens a connection in reserve for each that it aborts: the server's end waits 60 s for them.
  const open = async (session: string) => {
    const headers = { cookie: `tally_session=${session}` }
    const screen = get(`${address}/live/stream?eventId=${eventId}&day=41`, { headers, agent: false })
    const [{ statusCode }] = await once(screen, 'response')
    if (statusCode === 200) screens.push(screen)
    else screen.destroy()
    return statusCode
  }
  const openAll = async (session: string, count: number) => {
    const statuses = await Promise.all(Array.from({ length: count }, () => open(session)))
    return statuses.filter(status => status === 200).length
  }
  const begin = () => beginSession(fixture.db, administrator_id)
  const first = await begin()
  expect([await openAll(first, 25), await open(first)]).toEqual([20, 429])
  for (let sessions = 1; sessions < 10; sessions++) expect(await openAll(await begin(), 20)).toBe(20)
  const last = await begin()
  expect(await open(last)).toBe(429)
  screens.pop()?.destroy()
  await until('there is room', async () => (await open(last)) === 200)
  for (const screen of screens) screen.destroy()
})

test('the live screens of an organization are limited over all processes, and one that was killed holds none', async () => {
  const office = await newOffice(fixture)
  const eventId = await newEvent(fixture, office.organizationId)
  const { db, redis, keys, logger } = fixture.deps
  const second = await openFixture({ db, redis, keys })
  const address = await second.app.listen({ host: '127.0.0.1', port: 0 })
  const visitor = newVisitor(second.app)
  await visitor.signIn(office.email)
  const headers = { cookie: `tally_session=${visitor.cookies.get('tally_session')}` }
  const statusOf = async () => {
    const screen = get(`${address}/live/stream?eventId=${eventId}&day=41`, { headers, agent: false })
    const [{ statusCode }] = await once(screen, 'response')
    screen.destroy()
    return statusCode
  }
  const first = createSharedPlaces({ redis, keys, logger })
  const places = await Promise.all(Array.from({ length: 201 }, () => first.take(office.organizationId, 200)))
  expect(places.filter(place => place !== undefined)).toHaveLength(200)
  expect(await statusOf()).toBe(429)
  places.find(place => place !== undefined)?.release()
  await until('there is room', async () => (await statusOf()) === 200)

  const killed = createSharedPlaces({ redis, keys, logger })
  for (let index = 0; index < 3; index++) expect(await killed.take('session-0', 3)).toBeDefined()
  expect(await killed.take('session-0', 3)).toBeUndefined()
  // A minute later:
  for (const place of await redis.zrange(keys.screens('session-0'), 0, '-1'))
    await redis.zincrby(keys.screens('session-0'), -61_000, place)
  expect(await first.take('session-0', 3)).toBeDefined()
  const down = () => Promise.reject(new Error('down'))
  const without = { takeScreen: down, zrem: down }
  const alone = createSharedPlaces({ redis: without as unknown as typeof redis, keys, logger })
  expect(await alone.take('session-0', 0)).toBeDefined()
  await second.close()
})

test('a process whose clock is an hour ahead takes no live screen of others', async () => {
  const { redis, keys, logger } = fixture.deps
  expect(await createSharedPlaces({ redis, keys, logger }).take('session-1', 1)).toBeDefined()
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000)
  const ahead = createSharedPlaces({ redis, keys, logger })
  expect(await ahead.take('session-1', 1)).toBeUndefined()
  clock.mockRestore()
})

test('a stream needs a session and an event of its organization', async () => {
  const ref = await newDay()
  const { email } = await newOffice(fixture)
  const stranger = newVisitor(fixture.app)
  const path = `/live/stream?eventId=${ref.eventId}&day=41`
  expect((await stranger.get(path)).statusCode).toBe(401)
  await stranger.signIn(email)
  for (const eventId of [ref.eventId, randomUUID() as EventId, 'x'])
    expect((await stranger.get(`/live/stream?eventId=${eventId}&day=41`)).statusCode).toBe(404)
})
