import { readFileSync } from 'node:fs'
import { ask } from '@tally/testkit/processes/http'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { useFixture } from '../chaos/system/fixture.ts'

/** docs/reliability.md, Redis: the rows about answers. */
const fixture = useFixture({ projectors: 1, queries: 1 })
const sagra = newFestival()
const kpis = `${sagra.path}/analytics/kpis`
let redis: Redis
let token: string
let known = 0

beforeAll(async () => {
  redis = new Redis(fixture.system.servers.redisUrl)
  await fixture.count(sagra.organization(), sagra.event(), sagra.order(), sagra.order())
  token = await fixture.token(sagra.organizationId)
  known = 2
})
afterEach(async () => {
  await redis.config('SET', 'maxmemory', '0')
  await fixture.system.links.redis.mend()
})
afterAll(() => redis.disconnect())

const totalOrders = async (address = fixture.system.queries[0]?.address ?? '') => {
  const { status, body } = await ask(address, kpis, { token })
  expect(status).toBe(200)
  return body.data.totalOrders as number
}
/** How often the query process has logged a sentence. */
const said = (sentence: string) =>
  readFileSync(fixture.system.queries[0]?.logFile ?? '', 'utf8').split(sentence).length - 1
const sell = async () => {
  await fixture.send(sagra.order())
  known += 1
}

test('with a full Redis Postgres answers within 5 s, and every answer contains what is counted then', async () => {
  expect(await totalOrders()).toBe(known)
  await redis.config('SET', 'maxmemory', '1')
  await sell()
  await until('the sale is counted', async () => (await totalOrders()) === known, 5_000)
  const projector = fixture.system.projectors[0]?.ops ?? ''
  const ready = async () => (await ask(projector, '/readyz')).text
  await until('the projector says so', async () => (await ready()).includes('Redis refuses writes'))
  expect((await ask(projector, '/metrics')).text).toContain('tally_projector_redis_refuses_writes 1')
  await fixture.count(sagra.order(), sagra.event({ version: 2, name: 'Sagra piena' }))
  known += 1
  await fixture.expectAnswers()
  expect(said('Redis refuses writes')).toBe(1)

  await redis.config('SET', 'maxmemory', '0')
  await fixture.count(sagra.order())
  known += 1
  await fixture.expectAnswers()
  expect(said('Redis accepts writes again')).toBe(1)
  await until('the projector is ready', async () => (await ask(projector, '/readyz')).status === 200)
  expect(said('Redis refuses writes')).toBe(1)
})

test.each([
  ['hangs', () => fixture.system.links.redis.stall()],
  ['takes 200 ms', () => fixture.system.links.redis.slow(200)],
])('a Redis that %s costs no request more than 100 ms', async (_, harm) => {
  await totalOrders()
  harm()
  const tookMs: number[] = []
  const endsAt = performance.now() + 4_000
  await until('four seconds are over', async () => {
    const began = performance.now()
    expect(await totalOrders()).toBe(known)
    tookMs.push(performance.now() - began)
    return performance.now() > endsAt
  })
  tookMs.sort((a, b) => b - a)
  console.info(`slowest of ${tookMs.length}: ${tookMs.slice(0, 5).map(Math.round).join(' ')} ms`)
  // 80 ms for Redis, once, and the time of Postgres on a busy machine.
  expect(tookMs[0]).toBeLessThan(300)
  expect(tookMs.filter(ms => ms > 100).length).toBeLessThan(tookMs.length / 10)
})
