import { mkdtempSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { forgetAll, type LocalServers, startServers } from './index.ts'
import { query } from './postgres.ts'

/** The same of Kafka: packages/kafka/consumer/outage.int.test.ts. */
let servers: LocalServers
let dataFolder: string
const deaths: string[] = []

beforeAll(async () => {
  dataFolder = mkdtempSync(join(tmpdir(), 'tally-faults-'))
  servers = await startServers({ dataFolder, kafka: false, onDeath: message => deaths.push(message) })
})

afterAll(async () => {
  await servers.forget()
})

test('Postgres and Redis refuse who does not know the password, which no argument shows', async () => {
  const { databaseUrl, redisUrl } = servers
  for (const wrong of ['', ':guess']) {
    const url = databaseUrl.replace(/:\/\/[^@]*@/, `://postgres${wrong}@`)
    await expect(query(url, 'select 1')).rejects.toThrow(/password/)
  }
  const redis = new Redis(redisUrl.replace(/:\/\/[^@]*@/, '://'), { retryStrategy: () => null })
  redis.on('error', () => {})
  await expect(redis.get('x')).rejects.toThrow(/NOAUTH/)
  redis.disconnect()
  const passwords = [databaseUrl, redisUrl].map(url => new URL(url).password)
  expect(passwords).toEqual([expect.stringMatching(/^\w{64}$/), expect.stringMatching(/^\w{64}$/)])
  const pids = (['postgres', 'redis'] as const).map(name => servers.part(name).pid())
  const shown = pids.map(pid => readFileSync(`/proc/${pid}/cmdline`, 'utf8')).join()
  for (const password of passwords) expect(shown).not.toContain(password)
  for (const file of ['redis/password', 'redis/redis.conf'])
    expect(statSync(join(dataFolder, file)).mode & 0o777).toBe(0o600)
})

test('Postgres that was killed comes back on its port with what was committed', async () => {
  await query(servers.databaseUrl, 'create table kept as select 7 as number')
  await servers.part('postgres').kill('SIGKILL')
  expect(servers.part('postgres').pid()).toBeUndefined()
  await expect(query(servers.databaseUrl, 'select 1')).rejects.toThrow()
  await servers.part('postgres').start()
  expect(await query(servers.databaseUrl, 'select number from kept')).toEqual([{ number: 7 }])
})

test('Redis that was killed comes back on its port with what was written a second ago', async () => {
  const { redisUrl } = servers
  const before = new Redis(redisUrl)
  before.on('error', () => {})
  await before.set('kept', '7')
  // Redis writes each command to its file at once, and syncs the file every second.
  await servers.part('redis').kill('SIGKILL')
  before.disconnect()
  await servers.part('redis').start()
  const after = new Redis(redisUrl)
  expect(await after.get('kept')).toBe('7')
  await after.quit()
})

test('a server that ends unexpectedly is reported with the end of its log, one that is killed on purpose is not', async () => {
  expect(deaths).toEqual([])
  process.kill(servers.part('redis').pid() ?? 0, 'SIGTERM')
  await expect.poll(() => deaths).toEqual([expect.stringContaining('redis ended by itself')])
  expect(deaths[0]).toContain('Redis is now ready to exit')
})

test('a server whose port is in use reports that', async () => {
  const taken = Number(new URL(servers.databaseUrl).port)
  const only = { kafka: false, redis: false, ports: { postgres: taken } }
  const other = join(dataFolder, 'other')
  const again = startServers({ ...only, dataFolder: other })
  await expect(again).rejects.toThrow(`postgres cannot start: something else listens on 127.0.0.1:${taken}`)
  await forgetAll(other)
})
