import { randomBytes, randomUUID } from 'node:crypto'
import type { OrganizationId } from '@tally/contract'
import { redisOfFile, type WholeRedis } from '@tally/testkit/servers/redis'
import { expect, test, vi } from 'vitest'
import type { ApiKey } from '../keys/apiKey.ts'
import { openRequestCounts, readRequests } from './requests.ts'

const { redis, keys } = await redisOfFile()
const logger = { debug() {}, info() {}, warn() {} }

const noon = Date.UTC(2026, 8, 4, 12)
const minuteMs = 60_000
const newKey = (organizationId: string = randomUUID()) =>
  ({ keyId: randomBytes(6).toString('hex'), organizationId }) as ApiKey

/** One process that counts answers with these statuses at one time, and ends. */
async function ask(key: ApiKey, atMs: number, ...statuses: number[]): Promise<void> {
  const counts = openRequestCounts({ redis, keys, logger, now: () => atMs })
  for (const status of statuses) counts.note(key, status)
  await counts.close()
}
const read = ({ organizationId }: ApiKey, nowMs = noon) =>
  readRequests(redis, keys, organizationId as OrganizationId, nowMs)

test('requests of all processes are added up by key and status', async () => {
  const key = newKey()
  const other = newKey(key.organizationId)
  await ask(key, noon, 200, 200, 304, 429)
  await ask(key, noon, 200)
  await ask(other, noon, 403)
  const { hour, day, byHour } = await read(key)
  expect(byHour.at(-1)).toMatchObject({ requests: 6, refused: 2 })
  expect(Object.fromEntries(hour.get(key.keyId) ?? [])).toEqual({ 200: 3, 304: 1, 429: 1 })
  expect(Object.fromEntries(hour.get(other.keyId) ?? [])).toEqual({ 403: 1 })
  expect(day).toEqual(hour)
})

test('an hour ends after an hour, a day after a day', async () => {
  const key = newKey()
  await ask(key, noon - 61 * minuteMs, 200)
  await ask(key, noon - 25 * 60 * minuteMs, 200)
  const { hour, day, byHour } = await read(key)
  expect([hour.size, day.get(key.keyId)?.get(200)]).toEqual([0, 1])
  expect(byHour).toHaveLength(24)
  expect(byHour.map(({ requests }) => requests).slice(-3)).toEqual([0, 1, 0])
})

test('requests of other organizations are not included', async () => {
  const [own, other] = [newKey(), newKey()]
  await ask(other, noon, 200)
  expect((await read(own)).day.size).toBe(0)
})

test('request counts expire', async () => {
  const key = newKey()
  await ask(key, Date.now(), 200)
  const piece = Math.floor(Date.now() / (5 * minuteMs))
  const left = await redis.ttl(keys.requests(key.organizationId, piece))
  expect(left).toBeGreaterThan(24 * 3_600)
  expect(left).toBeLessThanOrEqual(26 * 3_600)
})

test('hashes that could not be made to expire do so later, and all counts are written', async () => {
  const several = Array.from({ length: 600 }, () => newKey())
  let failures = 1
  const flaky = {
    status: 'ready',
    hincrby: (hash: string, field: string, count: number) => redis.hincrby(hash, field, count),
    expire: (hash: string, seconds: number) =>
      failures-- > 0 ? Promise.reject(new Error('down')) : redis.expire(hash, seconds),
  } as unknown as WholeRedis
  const counts = openRequestCounts({ redis: flaky, keys, logger, now: () => noon })
  for (const key of several) counts.note(key, 200)
  await counts.close()
  const written = await Promise.all(several.map(async key => (await read(key)).hour.get(key.keyId)?.get(200)))
  expect(written).toEqual(several.map(() => 1))
  const [first] = several as [ApiKey]
  const hash = keys.requests(first.organizationId, noon / (5 * minuteMs))
  expect(await redis.ttl(hash)).toBeGreaterThan(24 * 3_600)
})

test('a request sends nothing to Redis; counts that could not be sent are sent later, once', async () => {
  const key = newKey()
  let isDown = true
  const sent: string[] = []
  const flaky = {
    get status() {
      return 'ready'
    },
    hincrby: (hash: string, field: string, count: number) => {
      sent.push(field)
      return isDown ? Promise.reject(new Error('down')) : redis.hincrby(hash, field, count)
    },
    expire: (hash: string, seconds: number) => redis.expire(hash, seconds),
  } as unknown as WholeRedis
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const counts = openRequestCounts({ redis: flaky, keys, logger, now: () => noon })
  counts.note(key, 200)
  counts.note(key, 200)
  expect(sent).toEqual([])
  await vi.advanceTimersByTimeAsync(5_000)
  vi.useRealTimers()
  expect(sent).toEqual([`${key.keyId}:200`])
  counts.note(key, 200)
  isDown = false
  await counts.close()
  expect(sent).toHaveLength(2)
  expect((await read(key)).hour.get(key.keyId)?.get(200)).toBe(3)
})
