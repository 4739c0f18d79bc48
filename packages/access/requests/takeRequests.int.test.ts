import type { OrganizationId } from '@tally/contract'
import { newOrganizationId } from '@tally/testkit/records/records'
import { redisOfFile } from '@tally/testkit/servers/redis'
import { expect, test, vi } from 'vitest'

const { redis, keys } = await redisOfFile()

const limits = ['Trial', 2, 'ActiveDayPass', 60, 'Inactive', 3]

async function organizationOf(status: string): Promise<OrganizationId> {
  const id = newOrganizationId()
  await redis.hset(keys.organization(id), 'status', status)
  return id
}
const take = (id: OrganizationId, windowMs = 60_000, count = 1) =>
  redis.takeRequests(keys.window(id), keys.organization(id), windowMs, count, ...limits)

test.each([
  ['Trial', 2],
  ['ActiveDayPass', 60],
  ['Inactive', 3],
] as const)('%s is granted exactly %i requests in a window', async (status, limit) => {
  const id = await organizationOf(status)
  for (let used = 1; used <= limit; used++) expect(await take(id)).toMatchObject([1, limit, limit - used, {}])
  expect((await take(id))?.slice(0, 3)).toEqual([0, limit, 0])
})

test('the window starts with the first request and ends by itself', async () => {
  const id = await organizationOf('Trial')
  expect(await take(id)).toEqual([1, 2, 1, 60_000])
  const left = await redis.pttl(keys.window(id))
  expect(left).toBeGreaterThan(50_000)
  expect(left).toBeLessThanOrEqual(60_000)
})

test('a refused request costs nothing and does not extend the window', async () => {
  const id = await organizationOf('Trial')
  await take(id)
  await take(id)
  const before = await redis.pexpiretime(keys.window(id))
  for (let i = 0; i < 5; i++) expect((await take(id))?.[0]).toBe(0)
  expect(await redis.get(keys.window(id))).toBe('2')
  expect(await redis.pexpiretime(keys.window(id))).toBe(before)
})

test('a granted request does not extend the window either', async () => {
  const id = await organizationOf('ActiveDayPass')
  await take(id)
  const before = await redis.pexpiretime(keys.window(id))
  await take(id)
  expect(await redis.pexpiretime(keys.window(id))).toBe(before)
})

test('after a window has ended the next request starts a new one', async () => {
  const id = await organizationOf('Trial')
  await take(id, 50)
  await take(id, 50)
  await vi.waitFor(async () => expect(await redis.exists(keys.window(id))).toBe(0), {
    interval: 5,
    timeout: 120_000,
  })
  expect(await take(id)).toEqual([1, 2, 1, 60_000])
})

test('an organization without a status in Redis is not judged, and nothing is counted', async () => {
  const id = newOrganizationId()
  expect(await take(id)).toBeNull()
  expect(await redis.exists(keys.window(id))).toBe(0)
})

test('a window without an expiry is replaced', async () => {
  const id = await organizationOf('Trial')
  await redis.set(keys.window(id), 2)
  expect(await take(id)).toEqual([1, 2, 1, 60_000])
  expect(await redis.pttl(keys.window(id))).toBeGreaterThan(0)
})

test('the count is exact for concurrent requests', async () => {
  const id = await organizationOf('ActiveDayPass')
  const grants = await Promise.all(Array.from({ length: 200 }, () => take(id)))
  expect(grants.filter(grant => grant?.[0] === 1)).toHaveLength(60)
})

test('of several requests taken together, as many are granted as are left', async () => {
  const id = await organizationOf('ActiveDayPass')
  expect((await take(id, 60_000, 50))?.slice(0, 3)).toEqual([50, 60, 10])
  expect((await take(id, 60_000, 50))?.slice(0, 3)).toEqual([10, 60, 0])
  expect(await redis.get(keys.window(id))).toBe('60')
})
