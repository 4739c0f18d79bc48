import type { EventId, OrganizationId } from '@tally/contract'
import { asOfField, openRedis, type RedisClient, redisKeys } from '@tally/read-models'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect, inject, test } from 'vitest'
import type {} from '../../infra/local/test-servers.ts'
import { openRedisTurns } from './redisTurns.ts'

const redis = openRedis(inject('servers').redisUrl.split(','), {
  name: 'test',
  commandTimeoutMs: 5_000,
  onError: () => {},
})
const keys = redisKeys(`turns-${randomUUID()}`)
const topics = ['events', 'orders', 'refunds']
let reads = 0
/** The real client; only notes how often it is asked. */
const counted: RedisClient = Object.assign(Object.create(redis), {
  hget: (key: string, field: string) => {
    reads += 1
    return redis.hget(key, field)
  },
})
const turns = openRedisTurns({ redis: counted, keys, topics }, { Trial: 2, ActiveDayPass: 60, Inactive: 2 })
afterAll(() => redis.disconnect())

let organizationId: OrganizationId
let eventId: EventId
beforeEach(async () => {
  organizationId = randomUUID() as OrganizationId
  eventId = randomUUID() as EventId
  await expect.poll(() => redis.status).toBe('ready')
  await redis.hset(keys.organization(organizationId), 'status', 'ActiveDayPass')
})

test('requests of one turn are granted as if they had come one by one', async () => {
  const grants = await Promise.all(Array.from({ length: 100 }, () => turns.takeRequest(organizationId)))

  expect(grants.filter(grant => grant?.granted)).toHaveLength(60)
  expect(grants.map(grant => grant?.remaining)).toEqual(
    Array.from({ length: 100 }, (_, index) => Math.max(0, 59 - index)),
  )
})

test('requests of one turn share one read, those of the next turn read anew', async () => {
  await redis.hset(keys.event(eventId), 'revision', 7)
  const before = reads
  expect(
    await Promise.all([turns.revision(eventId), turns.revision(eventId), turns.revision(eventId)]),
  ).toEqual([7, 7, 7])
  expect(reads - before).toBe(1)

  await redis.hset(keys.event(eventId), 'revision', 8)
  expect(await turns.revision(eventId)).toBe(8)
})

test('the moment of a shard is the earliest of its topics, and none while one is missing', async () => {
  const shard = 4
  await redis.hset(keys.shard(shard), asOfField('events'), 3_000, asOfField('orders'), 2_000)
  expect(await turns.asOf(shard)).toBeNull()
  await redis.hset(keys.shard(shard), asOfField('refunds'), 2_500)
  expect(await turns.asOf(shard)).toBe(2_000)
})

test('an event that Redis does not have has no revision, an organization that it does not know no grant', async () => {
  expect(await turns.revision(eventId)).toBeUndefined()
  expect(await turns.takeRequest(randomUUID() as OrganizationId)).toBeUndefined()
})
