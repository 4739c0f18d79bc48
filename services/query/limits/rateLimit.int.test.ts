import { randomUUID } from 'node:crypto'
import type { OrganizationId } from '@tally/contract'
import { publishOrganizations } from '@tally/publication'
import { databaseOfFile, noPostgres } from '@tally/testkit/servers/database'
import { redisOfFile } from '@tally/testkit/servers/redis'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { queryScripts } from '../redis/askBatch.ts'
import { createBreaker } from '../redis/breaker.ts'
import { createRequestBatches } from '../redis/requestBatches.ts'
import { createRepairs } from '../views/repairs.ts'
import { createRateLimiter } from './rateLimit.ts'

const { redis, keys } = await redisOfFile(queryScripts)
const database = await databaseOfFile()

const limits = { Trial: 3, ActiveDayPass: 60, Inactive: 2 }
const topics = ['events', 'orders', 'refunds']

function limiterOver(client: typeof redis, db = database.db) {
  const repair = createRepairs<OrganizationId>(
    1,
    id => publishOrganizations({ db, redis, keys }, [id]),
    () => {},
  )
  const breaker = createBreaker({ redis: client, onFailure: () => {} })
  const batches = createRequestBatches({ redis: client, keys, topics, breaker }, limits)
  const { take: takeRequest } = createRateLimiter({ db, batches, breaker, repair }, limits)
  return { takeRequest, breaker }
}

/** The grants of five requests of one batch, in their order. */
async function fiveTogether(client: typeof redis, id: OrganizationId) {
  const { takeRequest } = limiterOver(client)
  return Promise.all(Array.from({ length: 5 }, () => takeRequest(id)))
}

const share = (allowed: boolean, remaining: number) => ({
  allowed,
  limit: 3,
  remaining,
  resetMs: expect.closeTo(59_000, -4),
})
const oneByOne = [share(true, 2), share(true, 1), share(true, 0), share(false, 0), share(false, 0)]

test('requests of one batch are allowed as if they had arrived one by one', async () => {
  const id = randomUUID() as OrganizationId
  await redis.hset(keys.organization(id), 'status', 'Trial')
  expect(await fiveTogether(redis, id)).toEqual(oneByOne)
})

test('if Redis does not know the organization or does not answer, as many are allowed, in any order', async () => {
  const broken = Object.assign(Object.create(redis), {
    takeRequests: () => Promise.reject(new Error('connection refused')),
    askBatch: () => Promise.reject(new Error('connection refused')),
  })
  for (const client of [redis, broken]) {
    const grants = await fiveTogether(client, randomUUID() as OrganizationId)
    expect(
      grants.toSorted((a, b) => Number(b.allowed) - Number(a.allowed) || b.remaining - a.remaining),
    ).toEqual(oneByOne)
  }
})

async function storedOrganization(): Promise<OrganizationId> {
  const id = randomUUID() as OrganizationId
  await database.db
    .insertInto('organizations')
    .values({ organization_id: id, version: 1, name: 'Pro Loco', status: 'Trial', revision: 1 })
    .execute()
  return id
}

test('an organization that Redis has lost is published, and no decision waits for its list of events', async () => {
  const id = await storedOrganization()
  const { takeRequest } = limiterOver(redis)
  await database.db.transaction().execute(async tx => {
    await sql`lock table events`.execute(tx)
    for (const remaining of [2, 1]) expect(await takeRequest(id)).toMatchObject({ allowed: true, remaining })
  })
  await expect.poll(() => redis.hget(keys.organization(id), 'status')).toBe('Trial')
})

test('a process that loses Redis continues counting from what Redis said last', async () => {
  const id = await storedOrganization()
  await redis.hset(keys.organization(id), 'status', 'Trial')
  const { takeRequest, breaker } = limiterOver(redis)
  for (const remaining of [2, 1]) expect(await takeRequest(id)).toMatchObject({ allowed: true, remaining })
  breaker.trip()
  expect(await takeRequest(id)).toMatchObject({ allowed: true, remaining: 0 })
  expect(await takeRequest(id)).toMatchObject({ allowed: false, remaining: 0 })
})

test('while Redis refuses writes, a window that is used up grants what a new status allows', async () => {
  const id = await storedOrganization()
  await redis.hset(keys.organization(id), 'status', 'Trial')
  const { takeRequest, breaker } = limiterOver(redis)
  for (const remaining of [2, 1, 0]) expect(await takeRequest(id)).toMatchObject({ allowed: true, remaining })
  breaker.noteWrite(new Error("OOM command not allowed when used memory > 'maxmemory'."))
  await sql`update organizations set status = 'ActiveDayPass' where organization_id = ${id}`.execute(
    database.db,
  )
  for (const remaining of [56, 55])
    expect(await takeRequest(id)).toMatchObject({ allowed: true, limit: 60, remaining })
})

test('while Redis refuses writes, a process does not grant again what another one took before', async () => {
  const id = await storedOrganization()
  await redis.hset(keys.organization(id), 'status', 'Trial')
  const [one, other] = [limiterOver(redis), limiterOver(redis)]
  expect(await one.takeRequest(id)).toMatchObject({ allowed: true, remaining: 2 })
  for (const remaining of [1, 0]) expect(await other.takeRequest(id)).toMatchObject({ remaining })
  one.breaker.noteWrite(new Error("OOM command not allowed when used memory > 'maxmemory'."))
  expect(await one.takeRequest(id)).toMatchObject({ allowed: false, limit: 3, remaining: 0 })
})

test('a process that loses Redis and Postgres applies the last limit, if it knows one', async () => {
  const [known, unknown] = [randomUUID() as OrganizationId, randomUUID() as OrganizationId]
  for (const id of [known, unknown]) await redis.hset(keys.organization(id), 'status', 'Trial')
  const noDb = noPostgres()
  let isDown = false
  const client = Object.assign(Object.create(redis), {
    takeRequests: (...args: Parameters<typeof redis.takeRequests>) =>
      isDown ? Promise.reject(new Error('connection refused')) : redis.takeRequests(...args),
    askBatch: (...args: Parameters<typeof redis.askBatch>) =>
      isDown ? Promise.reject(new Error('connection refused')) : redis.askBatch(...args),
  })
  const { takeRequest } = limiterOver(client, noDb)
  // 2, or 1 if Redis was so slow that it was asked again.
  const { allowed, remaining } = await takeRequest(known)
  expect([allowed, remaining > 0]).toEqual([true, true])
  isDown = true
  expect(await takeRequest(known)).toMatchObject({ allowed: true, limit: 3, remaining: remaining - 1 })
  await expect(takeRequest(unknown)).rejects.toThrow('Service unavailable')
  isDown = false
  expect(await takeRequest(unknown)).toMatchObject({ allowed: true, remaining: 2 })
  await noDb.destroy()
})
