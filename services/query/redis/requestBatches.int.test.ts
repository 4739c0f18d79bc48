import { randomUUID } from 'node:crypto'
import type { EventId, OrganizationId } from '@tally/contract'
import { asOfField, eventRevisionField } from '@tally/publication'
import { redisOfFile } from '@tally/testkit/servers/redis'
import { beforeEach, expect, test } from 'vitest'
import { type QueryRedis, queryScripts } from './askBatch.ts'
import { createBreaker } from './breaker.ts'
import { createRequestBatches } from './requestBatches.ts'

const { redis, keys } = await redisOfFile(queryScripts)
const topics = ['events', 'orders', 'refunds']
let reads = 0
/** The real client, which also counts reads. */
const counted: QueryRedis = new Proxy(redis, {
  get(target, name) {
    if (name === 'hmget' || name === 'askBatch') reads += 1
    const value = Reflect.get(target, name)
    return typeof value === 'function' ? value.bind(target) : value
  },
})
let failures = 0
const breaker = createBreaker({
  redis,
  onFailure: () => {
    failures += 1
  },
})
const patient = { ...breaker, timeoutMs: 60_000 }
const deciding = Promise.resolve({ allowed: true, limit: 60, remaining: 59, resetMs: 60_000 })
const limits = { Trial: 2, ActiveDayPass: 60, Inactive: 2 }
const batches = createRequestBatches({ redis: counted, keys, topics, breaker }, limits)

const mark = (revision: number) => ({ revision, epoch: 0 })

let organizationId: OrganizationId
let eventId: EventId
beforeEach(async () => {
  organizationId = randomUUID() as OrganizationId
  eventId = randomUUID() as EventId
  await expect.poll(() => redis.status).toBe('ready')
  await redis.hset(keys.organization(organizationId), 'status', 'ActiveDayPass')
  // A busy machine may take longer than the 80 ms of a breaker that is closed.
  breaker.forceClosed()
})

test('requests of one batch are taken together, in the order they arrived', async () => {
  const taking = Array.from({ length: 100 }, () => batches.takeRequest(organizationId))

  expect(taking.map(({ index }) => index)).toEqual(Array.from({ length: 100 }, (_, index) => index))
  const [taken, ...others] = await Promise.all(taking.map(({ taken }) => taken))
  expect(taken).toEqual([60, 60, 0, expect.any(Number)])
  expect(new Set(others)).toEqual(new Set([taken]))
})

test('requests of one batch share one read, those of the next batch read again', async () => {
  await redis.hset(keys.event(eventId), 'revision', 7)
  const before = reads
  expect(
    await Promise.all([batches.event(eventId, 0), batches.event(eventId, 0), batches.event(eventId, 0)]),
  ).toEqual([mark(7), mark(7), mark(7)])
  expect(reads - before).toBe(1)

  await redis.hset(keys.event(eventId), 'revision', 8, 'epoch', 3)
  expect(await batches.event(eventId, 0)).toEqual({ revision: 8, epoch: 3 })
})

test('the watermark of a shard is the earliest of its topics, and null while one is missing', async () => {
  const shard = 4
  await redis.hset(keys.shard(shard), asOfField('events'), 3_000, asOfField('orders'), 2_000)
  expect(await batches.shard(shard, eventId)).toMatchObject({ asOfMs: null, epoch: 0 })
  await redis.hset(keys.shard(shard), asOfField('refunds'), 2_500, 'epoch', 5)
  expect(await batches.shard(shard, eventId)).toMatchObject({ asOfMs: 2_000, epoch: 5 })
})

test('one read returns a shard’s hash with the published revision of each requested event', async () => {
  const shard = 5
  const other = randomUUID() as EventId
  await redis.hset(keys.shard(shard), eventRevisionField(eventId), 17)
  const before = reads
  const [one, two] = await Promise.all([batches.shard(shard, eventId), batches.shard(shard, other)])
  expect(reads - before).toBe(1)
  expect(one).toBe(two)
  expect(one.revisions).toEqual(
    new Map([
      [eventId, 17],
      [other, 0],
    ]),
  )
})

test('an event that Redis does not have has no revision, and an unknown organization gets no decision', async () => {
  expect(await batches.event(eventId, 0)).toBeUndefined()
  expect(await batches.takeRequest(randomUUID() as OrganizationId).taken).toBeNull()
})

test('a poll gets its place in the rate limit, its shard’s hash and its event’s version', async () => {
  const shard = 8
  await redis.hset(keys.event(eventId), 'revision', 7, 'epoch', 3)
  await redis.hset(keys.shard(shard), eventRevisionField(eventId), 7, 'epoch', 4)
  const poll = () =>
    new Promise(resolve => batches.poll(batches.pollOf({ organizationId, eventId, shard }), resolve))
  const taken = [2, 60, 58, expect.any(Number)]
  const hash = { asOfMs: null, epoch: 4, revisions: new Map([[eventId, 7]]) }
  expect(await Promise.all([poll(), poll()])).toEqual([
    { index: 0, taken, hash, version: { revision: 7, epoch: 3 } },
    { index: 1, taken, hash, version: { revision: 7, epoch: 3 } },
  ])
})

test('an event that comes back through another shard is read with that one', async () => {
  await redis.hset(keys.shard(31), 'epoch', 31)
  await redis.hset(keys.shard(32), 'epoch', 32)
  for (const shard of [31, 32, 31])
    expect(await batches.shard(shard, eventId)).toMatchObject({ epoch: shard })
})

test('a question is read once per batch for each key that asks it, and again in the next batch', async () => {
  const [question, other, one, two] = [{}, {}, {}, {}]
  let asked = 0
  const read = async () => ++asked
  const reply = (question: object, key: object) => batches.coalesce({ question, key, deciding, read })

  expect(
    await Promise.all([reply(question, one), reply(question, one), reply(question, two), reply(other, one)]),
  ).toEqual([1, 1, 2, 3])
  expect(await reply(question, one)).toBe(4)
})

test('a read begins after the last request that shares it has joined, and its commands go out with the batch', async () => {
  await redis.hset(keys.event(eventId), 'revision', 7)
  const question = {}
  const read = () => batches.event(eventId, 0)
  const first = batches.coalesce({ question, key: batches, deciding, read })
  const before = reads
  await Promise.resolve()
  expect(reads).toBe(before)
  const second = batches.coalesce({ question, key: batches, deciding, read })
  const alone = batches.event(eventId, 0)

  expect(await Promise.all([first, second, alone])).toEqual([mark(7), mark(7), mark(7)])
  expect(reads - before).toBe(1)
})

test('a hash that cannot be read, or an organization that cannot be judged, fails alone', async () => {
  const [other, spoilt] = [randomUUID() as EventId, randomUUID() as OrganizationId]
  await redis.hset(keys.event(eventId), 'revision', 7)
  await redis.set(keys.event(other), 'not a hash')
  await redis.set(keys.organization(spoilt), 'not a hash')
  const before = failures
  const asked = [
    batches.event(other, 6),
    batches.event(eventId, 6),
    batches.shard(6, eventId),
    batches.takeRequest(spoilt).taken,
    batches.takeRequest(organizationId).taken,
  ]
  expect(await Promise.allSettled(asked)).toMatchObject([
    { status: 'rejected', reason: { message: expect.stringContaining('WRONGTYPE') } },
    { status: 'fulfilled', value: mark(7) },
    { status: 'fulfilled', value: { asOfMs: null } },
    { status: 'fulfilled', value: undefined },
    { status: 'fulfilled', value: [1, 60, 59, expect.any(Number)] },
  ])
  expect(failures - before).toBe(1)
})

test('a batch of many organizations, shards and events gets each its own reply', async () => {
  const batches = createRequestBatches({ redis, keys, topics, breaker: patient }, limits)
  const many = Array.from({ length: 60 }, (_, index) => ({
    organizationId: randomUUID() as OrganizationId,
    eventId: randomUUID() as EventId,
    shard: 10 + (index % 7),
    revision: 1_000 + index,
  }))
  for (const { organizationId, eventId, shard, revision } of many) {
    await redis.hset(keys.organization(organizationId), 'status', 'Trial')
    await redis.hset(keys.event(eventId), 'revision', revision, 'epoch', revision + 1)
    await redis.hset(keys.shard(shard), eventRevisionField(eventId), revision - 1, 'epoch', 100 + shard)
  }
  const replies = many.map(async ({ organizationId, eventId, shard }, index) => {
    const taking = Array.from({ length: (index % 3) + 1 }, () => batches.takeRequest(organizationId))
    const [taken, hash, version] = await Promise.all([
      taking[0]?.taken,
      batches.shard(shard, eventId),
      batches.event(eventId, shard),
    ])
    return { allowed: taken?.[0], epoch: hash.epoch, published: hash.revisions.get(eventId), version }
  })
  expect(await Promise.all(replies)).toEqual(
    many.map(({ shard, revision }, index) => ({
      allowed: Math.min(2, (index % 3) + 1),
      epoch: 100 + shard,
      published: revision - 1,
      version: { revision, epoch: revision + 1 },
    })),
  )
})

test('what was taken is returned even if there are too many events for one read', async () => {
  const batches = createRequestBatches({ redis, keys, topics, breaker: patient }, limits)
  const { taken } = batches.takeRequest(organizationId)
  const read = Array.from({ length: 8_500 }, () => batches.event(randomUUID() as EventId, 41))
  const outcomes = await Promise.allSettled(read)
  expect(await taken).toEqual([1, 60, 59, expect.any(Number)])
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']))
})

test('the error of a read goes to all requests that share it', async () => {
  const question = {}
  const read = () => {
    throw new Error('no such event')
  }
  const all = [
    batches.coalesce({ question, key: batches, deciding, read }),
    batches.coalesce({ question, key: batches, deciding, read }),
  ]
  for (const one of await Promise.allSettled(all)) expect(one).toMatchObject({ status: 'rejected' })
})

/** Answers the first reads when their promise in `hanging` settles, all others at once. */
function withSlowAnswers(hanging: Promise<string[]>[], asked: string[], client: object): QueryRedis {
  const answer = <Reply>(key: string, reply: Reply) => {
    asked.push(key)
    return hanging[asked.length - 1] ?? Promise.resolve(reply)
  }
  return Object.assign(Object.create(client), {
    hmget: (key: string) => answer(key, ['8', null]),
    askBatch: (_keys: number, key: string) =>
      answer(
        key,
        `${Array(topics.length + 2)
          .fill('-')
          .join(' ')}\n8 -`,
      ),
  })
}

test('requests that arrive while two batches are asked share the next one, which goes out even if one of those failed', async () => {
  const hanging = Promise.withResolvers<string[]>()
  const asked: string[] = []
  const slow = withSlowAnswers([hanging.promise, new Promise(() => {})], asked, redis)
  const batches = createRequestBatches({ redis: slow, keys, topics, breaker: patient }, limits)
  const first = batches.event(eventId, 0)
  await new Promise(setImmediate)
  void batches.event(eventId, 0)
  await expect.poll(() => asked).toHaveLength(2)
  const third = batches.event(eventId, 0)
  await new Promise(setImmediate)
  expect(asked).toHaveLength(2)
  const fourth = batches.event(eventId, 0)

  hanging.reject(new Error('Command timed out'))
  await expect(first).rejects.toThrow('timed out')
  expect(await Promise.all([third, fourth])).toEqual([mark(8), mark(8)])
  expect(asked).toHaveLength(3)
})

test('in a cluster a node that hangs does not delay the next batch', async () => {
  const asked: string[] = []
  const slow = withSlowAnswers([new Promise(() => {})], asked, { isCluster: true })
  const batches = createRequestBatches({ redis: slow, keys, topics, breaker }, limits)
  batches.event(eventId, 0).catch(() => undefined)
  await new Promise(setImmediate)
  expect(await batches.event(eventId, 0)).toEqual(mark(8))
})

test('in a cluster a poll does not wait for the node of another', async () => {
  const other = randomUUID() as EventId
  const hanging = keys.event(other)
  const slow = {
    isCluster: true,
    hmget: (key: string) => (key === hanging ? new Promise(() => {}) : Promise.resolve(['8', null])),
    takeRequests: () => Promise.resolve([1, 60, 59, 60_000]),
  } as unknown as QueryRedis
  const batches = createRequestBatches({ redis: slow, keys, topics, breaker: patient }, limits)
  const told: unknown[] = []
  batches.poll(batches.pollOf({ organizationId, eventId: other, shard: 1 }), () => told.push(other))
  batches.poll(batches.pollOf({ organizationId, eventId, shard: 0 }), () => told.push(eventId))
  await expect.poll(() => told).toEqual([eventId])
})

test('without Redis nothing is taken or known, and one failure is reported', async () => {
  const refuse = () => Promise.reject(new Error('connection refused'))
  const methods = { takeRequests: refuse, hmget: refuse, askBatch: refuse }
  const broken: QueryRedis = Object.assign(Object.create(redis), methods)
  const batches = createRequestBatches({ redis: broken, keys, topics, breaker }, limits)
  const before = failures
  const taking = [batches.takeRequest(organizationId), batches.takeRequest(organizationId)]
  const poll = batches.pollOf({ organizationId, eventId, shard: 9 })
  const polled = new Promise(resolve => batches.poll(poll, resolve))
  expect(await Promise.all(taking.map(({ taken }) => taken))).toEqual([undefined, undefined])
  expect(await polled).toEqual({ index: 2 })
  expect(failures - before).toBe(1)
})
