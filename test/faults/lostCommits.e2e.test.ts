import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCopies, revokeKey } from '@tally/access'
import { startTally, type Tally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { allKeys } from '@tally/testkit/servers/redis'
import { succeeds, until } from '@tally/testkit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalServers, startServers } from '#infra/servers/index.ts'
import { copyPostgres } from '../chaos/system/postgresCopy.ts'

/** docs/reliability.md, Postgres: Postgres comes back without its last commits; under load: test/chaos. */
const sagra = newFestival()
const folder = mkdtempSync(join(tmpdir(), 'tally-lost-'))
let servers: LocalServers
let tally: Tally
let token: string

beforeAll(async () => {
  servers = await startServers({ dataFolder: folder, kafka: false, redis: false })
  tally = await startTally({ queries: 2, server: servers.databaseUrl })
  await tally.count([sagra.organization(), sagra.event()])
  token = await tally.key(sagra.organizationId)
})
afterAll(async () => {
  await tally?.stop()
  await servers?.forget()
  rmSync(folder, { recursive: true, force: true })
})

type Kpis = { orders: number; asOfMs: number; etag: string }

async function kpis(query: number): Promise<Kpis | undefined> {
  const { status, body, headers } = await tally.get(`${sagra.path}/analytics/kpis`, { token, query })
  if (status !== 200) return undefined
  return { orders: body.data.totalOrders, asOfMs: Date.parse(body.meta.asOf), etag: String(headers.etag) }
}

const orders = (count: number) => Array.from({ length: count }, () => sagra.order())

async function listed(): Promise<number> {
  const { status, body } = await tally.get(`${sagra.path}/orders`, { token })
  return status === 200 ? body.meta.pagination.totalCount : -1
}

/** Waits until every process answers so, from both Redis and Postgres. */
const untilAll = (count: number) =>
  until(`both query processes answer ${count}`, async () => {
    const answers = [await kpis(0), await kpis(1)]
    return answers.every(answer => answer?.orders === count) && (await listed()) === count
  })

test.each([
  ['a restored copy', false],
  ['a promoted standby', true],
])('what Postgres lost is read again, although no record arrives: %s', async (_, promoted) => {
  const before = (await kpis(0))?.orders ?? 0
  await tally.count(orders(20))
  const copy = await copyPostgres({ dataFolder: folder, servers })
  await tally.count(orders(100))
  const last = await kpis(0)
  const lastMs = last?.asOfMs ?? Number.NaN
  expect(last?.orders).toBe(before + 120)

  await copy.putBack({ promoted })
  // Redis still has everything. Without Redis only Postgres can answer, and may not claim more than it has.
  const key = allKeys(tally.settings.REDIS_PREFIX ?? '').event(sagra.eventId as never)
  await tally.redis.del(key)
  const etags = new Map<string, number>()
  const seen = async (query: number) => {
    const answer = await kpis(query)
    if (answer === undefined) return
    expect(etags.get(answer.etag) ?? answer.orders).toBe(answer.orders)
    etags.set(answer.etag, answer.orders)
    if (answer.asOfMs >= lastMs) expect(answer.orders).toBe(before + 120)
  }
  await until('all is counted again', async () => {
    await seen(0)
    await seen(1)
    return (await kpis(0))?.orders === before + 120
  })
  await untilAll(before + 120)

  await tally.count([sagra.order()])
  await untilAll(before + 121)
  const found = await tally.redis.hget(key, 'revision')
  expect(Number(found)).toBeGreaterThan(0)
})

test('keys are as old as the copy, in memory and in Redis too', async () => {
  const keys = allKeys(tally.settings.REDIS_PREFIX ?? '')
  const idOf = (token: string) => token.split('_')[1] ?? ''
  const statuses = (token: string) =>
    Promise.all([0, 1].map(async query => (await tally.get('/api/v1/events', { token, query })).status))
  const answered = (token: string, status: number) =>
    until(`both query processes answer ${status}`, async () =>
      (await statuses(token)).every(one => one === status),
    )
  const revoked = await tally.key(sagra.organizationId)
  await answered(revoked, 200)
  const copy = await copyPostgres({ dataFolder: folder, servers })
  const lost = await tally.key(sagra.organizationId)
  await revokeKey(tally.database.db, idOf(revoked))
  await answered(lost, 200)
  await answered(revoked, 401)

  await copy.putBack({ promoted: true })
  await until('Postgres accepts connections', () => succeeds(tally.key(sagra.organizationId)))
  const backMs = performance.now()
  await answered(lost, 401)
  await answered(revoked, 200)
  expect(performance.now() - backMs).toBeLessThan(5_000)
  // Redis must not answer differently if Postgres goes down now.
  await until('the copies are as Postgres has them', async () => {
    const copies = await readCopies(tally.redis, keys, [idOf(lost), idOf(revoked)])
    return copies.size === 1 && copies.get(idOf(revoked))?.key.revokedAt === null
  })
})
