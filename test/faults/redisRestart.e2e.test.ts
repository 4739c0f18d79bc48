import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OrganizationId } from '@tally/contract'
import { newOrganizationId } from '@tally/testkit/records/records'
import { allKeys, openWholeRedis, type WholeRedis } from '@tally/testkit/servers/redis'
import { until } from '@tally/testkit/until'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort } from '#infra/servers/ports.ts'
import { redisServer } from '#infra/servers/redis.ts'
import type { Server } from '#infra/servers/server.ts'

/** docs/decisions/0009-own-rate-limiter.md: what an append-only file and a replica know of rate-limit windows. */
const folder = mkdtempSync(join(tmpdir(), 'tally-redis-'))
const keys = allKeys('tally')
const limits = ['Trial', 2, 'ActiveDayPass', 60, 'Inactive', 1_600]
let server: Server
let redis: WholeRedis

async function start(name: string): Promise<Server> {
  const setup = { folder: join(folder, name), logFile: join(folder, `${name}.log`), port: await freePort() }
  const started = await redisServer({ ...setup, durable: true, log: () => {}, onDeath: console.error })
  await started.start()
  return started
}
async function clientOf({ url }: Server): Promise<WholeRedis> {
  const client = openWholeRedis(url, { name: 'test', commandTimeoutMs: 5_000, onError: () => {} })
  await until('the client is connected', () => client.status === 'ready')
  return client
}
beforeAll(async () => {
  server = await start('master')
  redis = await clientOf(server)
})
afterAll(async () => {
  redis?.disconnect()
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
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
/** The size of the append-only file, once all that waits for it is written. */
async function fileSize(): Promise<number> {
  const read = async (name: string) =>
    Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(await redis.info('persistence'))?.[1])
  await until('the file is written', async () => (await read('aof_buffer_length')) === 0)
  return read('aof_current_size')
}

test('a Redis that restarts forgets less than a sixteenth of a limit, and no end of a window', async () => {
  const [trial, dayPass, many] = await Promise.all(['Trial', 'ActiveDayPass', 'Inactive'].map(organizationOf))
  const ids = [trial, dayPass, many] as OrganizationId[]
  const used = [2, 59, 1_599]
  for (const [index, id] of ids.entries()) expect(await take(id, used[index])).toBe(used[index])
  const ends = () => Promise.all(ids.map(id => redis.pexpiretime(keys.window(id))))
  const before = await ends()

  await server.stop()
  await server.start()
  await until('the client is connected again', () => redis.status === 'ready')
  expect(await ends()).toEqual(before)
  expect(await take(ids[0] as OrganizationId)).toBe(0)
  for (const [id, limit] of [
    [ids[1], 60],
    [ids[2], 1_600],
  ] as const) {
    const again = await take(id as OrganizationId, limit)
    expect(again).toBeGreaterThanOrEqual(1)
    expect(again).toBeLessThanOrEqual(1 + Math.ceil(limit / 16))
  }
})

test('requests within a sixteenth of a limit, and refused ones, are not written to the file', async () => {
  const [many, trial] = await Promise.all(['Inactive', 'Trial'].map(organizationOf))
  await take(many as OrganizationId, 10)
  await take(trial as OrganizationId, 2)
  const before = await fileSize()
  expect(await take(many as OrganizationId, 80)).toBe(80)
  expect(await take(trial as OrganizationId, 20)).toBe(0)
  expect(await fileSize()).toBe(before)
  await take(many as OrganizationId, 20)
  expect(await fileSize()).toBeGreaterThan(before)
})

test('a replica gets the count at each sixteenth of a limit; refused requests cost neither it nor the file', async () => {
  const replicaServer = await start('replica')
  onTestFinished(() => replicaServer.stop())
  const replica = await clientOf(replicaServer)
  onTestFinished(() => replica.disconnect())
  const { port, password } = new URL(server.url)
  await replica.config('SET', 'masterauth', decodeURIComponent(password))
  await replica.replicaof('127.0.0.1', port)
  await until('the replica is connected', async () =>
    /master_link_status:up/.test(await replica.info('replication')),
  )
  const [many, trial] = await Promise.all(['Inactive', 'Trial'].map(organizationOf))
  const window = keys.window(many as OrganizationId)
  await take(many as OrganizationId, 105)
  await until('it has the count', async () => (await replica.get(window)) === '100')
  expect(await replica.pexpiretime(window)).toBe(await redis.pexpiretime(window))

  await take(trial as OrganizationId, 2)
  const before = await fileSize()
  expect(await take(trial as OrganizationId, 20)).toBe(0)
  expect(await take(many as OrganizationId, 20)).toBe(20)
  expect(await fileSize()).toBe(before)
})
