import { nextRevision } from '@tally/offsets'
import { publishEvents } from '@tally/publication'
import { expect, test, vi } from 'vitest'
import { useFixture } from '../test/fixture.ts'
import { newDay } from '../test/sell.ts'
import type { DayRef } from './day.ts'
import { createRedisDays, type RedisDay } from './fromRedis.ts'

const fixture = useFixture()

/** An event in Postgres and Redis with one open day, 41. */
async function publishedDay(): Promise<DayRef> {
  const ref = await newDay(fixture)
  await publishNext(ref)
  return ref
}

/** Publishes the event at its next revision. */
async function publishNext({ eventId }: DayRef): Promise<void> {
  const { db } = fixture
  await db.transaction().execute(async tx => {
    const revision = await nextRevision(tx)
    await tx.updateTable('event_heads').set({ revision }).where('event_id', '=', eventId).execute()
  })
  await publishEvents(fixture.deps, new Map([[eventId, { whole: true }]]))
}

async function rename({ eventId }: DayRef, version: number, name: string): Promise<void> {
  const row = fixture.db.updateTable('events').where('event_id', '=', eventId)
  const { document } = await fixture.db
    .selectFrom('events')
    .select('document')
    .where('event_id', '=', eventId)
    .executeTakeFirstOrThrow()
  await row.set({ version, document: JSON.stringify({ ...JSON.parse(document), version, name }) }).execute()
}

const nameIn = (day: RedisDay) => (typeof day === 'object' ? day.event.name : day)

test('the record of an event is read again when it has changed, and not when only its figures have', async () => {
  const ref = await publishedDay()
  const read = createRedisDays(fixture.deps, [`${fixture.deps.topicPrefix}.events`])
  const reading = vi.spyOn(fixture.deps.redis, 'hget')
  const first = await read(ref, undefined)
  await publishNext(ref)
  const second = await read(ref, first as Exclude<RedisDay, string>)
  const names = [nameIn(first), nameIn(second)]
  expect([names, reading.mock.calls.length]).toEqual([Array(2).fill('Sagra del Pesce'), 1])
  expect(second).not.toMatchObject({ revision: (first as Exclude<RedisDay, string>).revision })
  await rename(ref, 2, 'Sagra del Polpo')
  await publishNext(ref)
  expect(nameIn(await read(ref, second as Exclude<RedisDay, string>))).toBe('Sagra del Polpo')
  expect(reading).toHaveBeenCalledTimes(2)
  reading.mockRestore()
})

test('days that are read together are one command for 8 events, and each gets its own documents', async () => {
  const { redis, keys, topicPrefix } = fixture.deps
  const refs = await Promise.all(Array.from({ length: 10 }, publishedDay))
  for (const [orders, { eventId }] of refs.entries())
    await redis.hset(keys.event(eventId), 'kpis:41:0', JSON.stringify({ totalOrders: orders }))
  const read = createRedisDays(fixture.deps, [`${topicPrefix}.events`])
  const reading = vi.spyOn(redis, 'readDocumentsOfEach')
  const days = await Promise.all(refs.map(ref => read(ref, undefined)))
  expect(days.map(day => typeof day === 'object' && day.documents.get('kpis:41:0'))).toEqual(
    refs.map((_, orders) => `{"totalOrders":${orders}}`),
  )
  // A client that gathers commands calls itself once more.
  if (!redis.isCluster) expect(new Set(reading.mock.calls.map(([events]) => events))).toEqual(new Set([8, 2]))
  reading.mockRestore()
})
