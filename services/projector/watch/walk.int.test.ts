import { ensureOffsets, readOffsets } from '@tally/offsets'
import { type Effects, projectBatch } from '@tally/projection'
import { eventRevisionField, fitsShard, readEventVersion, readShardHash } from '@tally/publication'
import { batchOf, type Harness, openHarness, shard, topics } from '@tally/testkit/projection/harness'
import { anEvent, anOrder, newEventId } from '@tally/testkit/records/records'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createPublisher, type Publisher } from '../publish/publisher.ts'
import { createWalk, type Walk } from './walk.ts'

const walked = { eventsTopic: topics.events, organizationsTopic: topics.organizations }
let harness: Harness
let publisher: Publisher
let walk: Walk
let eventId: string
let organizationId: string
let next: number

beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness.close())
beforeEach(async () => {
  await harness.db.deleteFrom('event_heads').execute()
  await harness.db.deleteFrom('organizations').execute()
  await harness.db.deleteFrom('shard_offsets').execute()
  for (const topic of Object.values(topics)) await ensureOffsets(harness.db, topic, [shard])
  publisher = createPublisher(harness)
  walk = createWalk({ ...harness, publisher, ...walked })
  eventId = newEventId()
  organizationId = newEventId()
  next = 0
  await publish('events', batchOf(topics.events, 0, [anEvent({ eventId, organizationId })]))
  await sell()
})

async function publish(type: 'events' | 'orders', batch: ReturnType<typeof batchOf>): Promise<void> {
  const { effects } = await projectBatch(harness.deps, type, batch)
  if (effects !== undefined) publisher.add(batch, effects)
  await publisher.flush()
}

/** Publishes this many new events of the organization; returns their ids. */
async function publishEvents(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, newEventId)
  const events = ids.map(id => anEvent({ eventId: id, organizationId }))
  await publish('events', batchOf(topics.events, 1, events))
  return ids
}

const sell = () =>
  publish('orders', batchOf(topics.orders, next, [anOrder({ eventId, orderId: `A-${next++}` })]))

const eventKey = () => harness.keys.event(eventId as Parameters<typeof harness.keys.event>[0])
const organizationKey = () =>
  harness.keys.organization(organizationId as Parameters<typeof harness.keys.organization>[0])
const shardKey = () => harness.keys.shard(shard)
const mine = [
  { topic: topics.events, partition: shard },
  { topic: topics.organizations, partition: 0 },
]

/** Two steps, because a difference counts only if it is found twice. */
async function walkRound(): Promise<void> {
  await walk.step(mine)
  await walk.step(mine)
  await publisher.drain()
}

const stored = async () => {
  const row = await harness.db
    .selectFrom('event_heads')
    .select('revision')
    .where('event_id', '=', eventId)
    .executeTakeFirstOrThrow()
  return row.revision
}
const figures = async () => JSON.parse((await harness.readEvent(eventId))['kpis:41:0'] ?? 'null')?.totalOrders

test('an event whose key went back to an older state is published again', async () => {
  const dump = await harness.redis.dumpBuffer(eventKey())
  await sell()
  await harness.redis.restore(eventKey(), 0, dump as Buffer, 'REPLACE')
  expect(await figures()).toBe(1)
  await walkRound()
  expect(await figures()).toBe(2)
  expect(Number(await harness.redis.hget(eventKey(), 'revision'))).toBe(await stored())
})

test('an event and an organization whose keys are gone are published again', async () => {
  await harness.redis.del(eventKey())
  await harness.redis.del(organizationKey())
  await walkRound()
  expect(await figures()).toBe(1)
  expect(await harness.redis.hexists(organizationKey(), 'events')).toBe(1)
})

test('an organization with the nil UUID, which no id is lower than, is published again', async () => {
  organizationId = '00000000-0000-0000-0000-000000000000'
  await publishEvents(1)
  await harness.redis.del(organizationKey())
  await walkRound()
  expect(await harness.redis.hexists(organizationKey(), 'events')).toBe(1)
})

test('documents newer in Redis than in Postgres, which lost them, are replaced under a revision above both', async () => {
  const lost = (await stored()) + 10_000_000_000
  await harness.redis.hset(eventKey(), { revision: lost, 'kpis:41:0': '{"totalOrders":99}' })
  await harness.redis.hset(organizationKey(), { revision: lost, events: '["lost"]' })
  await walkRound()
  expect(await figures()).toBe(1)
  expect(await stored()).toBeGreaterThan(lost)
  expect(await harness.redis.hget(organizationKey(), 'events')).toContain(eventId)
})

test('a revision that exists only in the shard’s hash is surpassed', async () => {
  const lost = (await stored()) + 10_000_000_000
  await harness.redis.hset(shardKey(), eventRevisionField(eventId as never), lost)
  await walkRound()
  expect(Number(await harness.redis.hget(eventKey(), 'revision'))).toBeGreaterThan(lost)
})

test('a difference that is being published anyway changes nothing', async () => {
  const dump = await harness.redis.dumpBuffer(eventKey())
  await sell()
  const published = await harness.redis.dumpBuffer(eventKey())
  await harness.redis.restore(eventKey(), 0, dump as Buffer, 'REPLACE')
  await walk.step(mine)
  await harness.redis.restore(eventKey(), 0, published as Buffer, 'REPLACE')
  const before = await stored()
  await walkRound()
  expect(await stored()).toBe(before)
})

test('events that change all the time do not keep the walk from other shards', async () => {
  const busy = { topic: topics.events, partition: shard - 1 }
  const before = await harness.redis.dumpBuffer(eventKey())
  await sell()
  await harness.redis.restore(eventKey(), 0, before as Buffer, 'REPLACE')
  for (let revision = 1; revision < 20; revision++) {
    await sql`
insert into event_heads (event_id, shard, revision) values (${organizationId}, ${busy.partition}, ${revision})
on conflict (event_id) do update set revision = excluded.revision`.execute(harness.db)
    await harness.redis.hset(harness.keys.event(organizationId as never), 'revision', revision - 1)
    await walk.step([busy, ...mine])
  }
  await publisher.drain()
  expect(await figures()).toBe(2)
})

test('a projector of many shards walks all of them within a few steps', async () => {
  await harness.redis.del(eventKey())
  const many = Array.from({ length: 300 }, (_, partition) => ({ topic: topics.events, partition }))
  for (let step = 0; step < 4; step++) await walk.step(many)
  await publisher.drain()
  expect(await figures()).toBe(1)
})

test('events after the first page are walked, too', async () => {
  const others = await publishEvents(60)
  await walk.step(mine) // a whole round, after which the pages have 20 events
  const last = harness.keys.event(others.sort().at(-1) as never)
  await harness.redis.del(last)
  for (let step = 0; step < 6; step++) await walk.step(mine)
  await publisher.drain()
  expect(await harness.redis.exists(last)).toBe(1)
})

test('what is pending does not count as lost, and a projector that stops leaves the backlog to the next one', async () => {
  const batch = batchOf(topics.orders, next, [anOrder({ eventId, orderId: `A-${next++}` })])
  const { effects } = await projectBatch(harness.deps, 'orders', batch)
  if (effects !== undefined) publisher.add(batch, effects, { isBehind: true })
  await walkRound()
  expect(await figures()).toBe(1)

  await harness.redis.del(organizationKey())
  await walk.step(mine)
  await walk.step(mine)
  await publisher.drain(() => true)
  expect(await harness.redis.exists(organizationKey())).toBe(0)
  await publisher.drain()
  expect(await harness.redis.exists(organizationKey())).toBe(1)
})

test('live figures do not wait for the publication of what Redis has lost', async () => {
  const others = await publishEvents(3_000)
  for (const key of [eventKey(), shardKey()]) await harness.redis.del(key)
  await Promise.all(others.map(id => harness.redis.del(harness.keys.event(id as never))))

  const offset = { topic: topics.events, partition: shard }
  expect(await publisher.heal(offset, Number.MAX_SAFE_INTEGER)).toBe(true)
  const draining = publisher.drain()
  await sell()
  expect(await figures()).toBe(2)
  const there = () => Promise.all(others.map(id => harness.redis.exists(harness.keys.event(id as never))))
  expect(await there()).toContain(0)
  expect(publisher.holdsBack(offset, 1)).toBe(true)
  await draining
  expect(await there()).not.toContain(0)
  expect(publisher.holdsBack(offset, 1)).toBe(false)
}, 60_000)

test('the last piece of a backlog stores the revisions of earlier pieces again, because the hash may have gone back', async () => {
  const others = await publishEvents(30)
  await harness.redis.del(shardKey())
  let advances = 0
  const redis = new Proxy(harness.redis, {
    get(target, name) {
      const found = Reflect.get(target, name)
      if (typeof found !== 'function') return found
      if (name !== 'raiseMarks') return found.bind(target)
      return async (...args: unknown[]) => {
        if (advances++ === 1) await target.del(shardKey())
        return found.apply(target, args)
      }
    },
  })
  const healing = createPublisher({ db: harness.db, redis, keys: harness.keys })
  expect(await healing.heal({ topic: topics.events, partition: shard }, await stored())).toBe(true)
  await healing.drain()
  expect(advances).toBe(2)
  const fields = await harness.redis.hkeys(shardKey())
  expect(fields).toEqual(expect.arrayContaining(others.map(id => eventRevisionField(id as never))))
})

test('the mark of a finished backlog covers what was published meanwhile', async () => {
  await publishEvents(60)
  await harness.redis.del(shardKey())
  const of = { topic: topics.orders, partition: shard }
  const revision = async () =>
    (await readOffsets(harness.db, [of.topic])).find(({ partition }) => partition === shard)?.revision ?? 0
  const isHeldBack: boolean[] = []
  // Called after the first events of the backlog were read from Postgres, before any is stored.
  const enterEpoch: typeof harness.redis.enterEpoch = async (...args) => {
    if (isHeldBack.length === 0) {
      isHeldBack.push(healing.holdsBack(of, 1))
      const batch = batchOf(topics.orders, next, [anOrder({ eventId, orderId: `A-${next++}` })])
      const { effects } = await projectBatch(harness.deps, 'orders', batch)
      healing.add(batch, effects as Effects)
    }
    return harness.redis.enterEpoch(...args)
  }
  const redis = Object.assign(Object.create(harness.redis), { enterEpoch })
  const healing = createPublisher({ ...harness, redis })
  expect(await healing.heal(of, await revision())).toBe(true)
  await healing.drain()
  expect(isHeldBack).toEqual([true])
  expect(await healing.heal(of, await revision())).toBe(false)
  expect(await figures()).toBe(2)
  expect(await harness.redis.hkeys(shardKey())).toContain(eventRevisionField(eventId as never))
})

test('a key of another type is replaced', async () => {
  await harness.redis.del(eventKey())
  await harness.redis.set(eventKey(), 'not a hash')
  await walkRound()
  expect(await figures()).toBe(1)
})

const becomeQuiet = () =>
  sql`update event_heads set changed_at = now() - interval '31 days' where event_id = ${eventId}`.execute(
    harness.db,
  )

test('the expired documents of a quiet event are left out; an old or wrong key of it is replaced', async () => {
  const dump = await harness.redis.dumpBuffer(eventKey())
  await sell()
  await becomeQuiet()
  await harness.redis.del(eventKey())
  await walkRound()
  expect(await harness.redis.exists(eventKey())).toBe(0)

  await harness.redis.restore(eventKey(), 0, dump as Buffer, 'REPLACE')
  await walkRound()
  expect(await figures()).toBe(2)
  expect(await harness.redis.pttl(eventKey())).toBeGreaterThan(0)

  await harness.redis.del(eventKey())
  await harness.redis.set(eventKey(), 'not a hash')
  await walkRound()
  expect(await figures()).toBe(2)
})

test('a quiet event that sells again is published whole', async () => {
  await becomeQuiet()
  await harness.redis.del(eventKey())
  await sell()
  expect(await figures()).toBe(2)
  await harness.redis.del(eventKey())
  await walkRound()
  expect(await figures()).toBe(2)
})

test('what Redis has lost is published without quiet events, and an old hash of one does not fit its shard', async () => {
  const [other = ''] = await publishEvents(1)
  const dump = await harness.redis.dumpBuffer(eventKey())
  await sell()
  await becomeQuiet()
  for (const key of [eventKey(), harness.keys.event(other as never), shardKey()]) await harness.redis.del(key)

  const of = { topic: topics.events, partition: shard }
  expect(await publisher.heal(of, await stored())).toBe(true)
  await publisher.drain()
  expect(await harness.redis.exists(harness.keys.event(other as never))).toBe(1)
  expect(await harness.redis.exists(eventKey())).toBe(0)
  expect(await publisher.heal(of, await stored())).toBe(false)

  await harness.redis.restore(eventKey(), 0, dump as Buffer)
  const id = eventId as Parameters<typeof harness.keys.event>[0]
  const hash = await readShardHash(harness, [topics.events], shard, [id])
  const version = await readEventVersion(harness, id)
  expect(hash.revisions.get(id)).toBe(await stored())
  expect(fitsShard(hash, id, version as NonNullable<typeof version>)).toBe(false)
})
