import type { OrganizationId } from '@tally/contract'
import { answers } from '@tally/platform'
import { newOrganizationId } from '@tally/testkit/records/records'
import { allKeys, openWholeRedis, type WholeRedis } from '@tally/testkit/servers/redis'
import { until } from '@tally/testkit/until'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openRedisNodes } from '../cluster/redisNodes.ts'
import { untilReplicated } from '../cluster/replicatedRedis.ts'

/** docs/decisions/0009-own-rate-limiter.md: what an append-only file and a replica know of rate-limit windows. */
const redises = openRedisNodes()
const keys = allKeys('tally')
const limits = ['Trial', 2, 'ActiveDayPass', 60, 'Inactive', 1_600]
let port: number
let redis: WholeRedis

async function clientOf(port: number): Promise<WholeRedis> {
  const options = { name: 'test', commandTimeoutMs: 5_000, onError: () => {} }
  const client = openWholeRedis(`redis://127.0.0.1:${port}`, options)
  await untilAnswers(client)
  return client
}
const untilAnswers = (client: WholeRedis) => until('Redis answers', () => answers(5_000, () => client.ping()))
beforeAll(async () => {
  // `always`: what was answered is in the file.
  port = await redises.start(['appendonly yes', 'appendfsync always'])
  redis = await clientOf(port)
})
afterAll(async () => {
  redis?.disconnect()
  await redises.stop()
})

async function organizationOf(status: string): Promise<OrganizationId> {
  const id = newOrganizationId()
  await redis.hset(keys.organization(id), 'status', status)
  return id
}
async function take(id: OrganizationId, times = 1): Promise<number> {
  let granted = 0
  for (let n = 0; n < times; n++) {
    const taken = await redis.takeRequests(keys.window(id), keys.organization(id), 600_000, 1, ...limits)
    granted += taken?.[0] ?? 0
  }
  return granted
}
const fileSize = async () => Number(/^aof_current_size:(\d+)/m.exec(await redis.info('persistence'))?.[1])

test('a Redis that restarts forgets less than a sixteenth of a limit, and no end of a window', async () => {
  const trial = await organizationOf('Trial')
  const dayPass = await organizationOf('ActiveDayPass')
  const many = await organizationOf('Inactive')
  expect(await take(trial, 2)).toBe(2)
  expect(await take(dayPass, 59)).toBe(59)
  expect(await take(many, 1_599)).toBe(1_599)
  const ends = () => Promise.all([trial, dayPass, many].map(id => redis.pexpiretime(keys.window(id))))
  const before = await ends()

  await redises.kill(port)
  redises.startAgain()
  await untilAnswers(redis)
  expect(await ends()).toEqual(before)
  expect(await take(trial)).toBe(0)
  for (const [id, limit] of [
    [dayPass, 60],
    [many, 1_600],
  ] as const) {
    const again = await take(id, limit)
    expect(again).toBeGreaterThanOrEqual(1)
    expect(again).toBeLessThanOrEqual(1 + Math.ceil(limit / 16))
  }
})

test('requests within a sixteenth of a limit, and refused ones, are not written to the file', async () => {
  const many = await organizationOf('Inactive')
  const trial = await organizationOf('Trial')
  await take(many, 10)
  await take(trial, 2)
  const before = await fileSize()
  expect(await take(many, 80)).toBe(80)
  expect(await take(trial, 20)).toBe(0)
  expect(await fileSize()).toBe(before)
  await take(many, 20)
  expect(await fileSize()).toBeGreaterThan(before)
})

test('a replica gets the count at each sixteenth of a limit; refused requests cost neither it nor the file', async () => {
  const replicaPort = await redises.start([`replicaof 127.0.0.1 ${port}`])
  await untilReplicated([{ port: replicaPort }])
  const replica = await clientOf(replicaPort)
  onTestFinished(() => replica.disconnect())
  const many = await organizationOf('Inactive')
  const trial = await organizationOf('Trial')
  const window = keys.window(many)
  await take(many, 105)
  await until('it has the count', async () => (await replica.get(window)) === '100')
  expect(await replica.pexpiretime(window)).toBe(await redis.pexpiretime(window))

  await take(trial, 2)
  const before = await fileSize()
  expect(await take(trial, 20)).toBe(0)
  expect(await take(many, 20)).toBe(20)
  expect(await fileSize()).toBe(before)
})
