import { openPostgres } from '@tally/schema'
import { tally as command } from '@tally/testkit/processes/command'
import { ask } from '@tally/testkit/processes/http'
import { type Environment, startProcess, type TallyProcess } from '@tally/testkit/processes/process'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { tokenOnceKnown } from '@tally/testkit/records/token'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { startPgbouncer } from '../cluster/pgbouncer.ts'
import { startPair } from '../cluster/postgresPair.ts'

/** docs/reliability.md, Postgres: PgBouncer in between, and an address of several hosts. */
const tally = useTally({ projectors: 0, queries: 0 })
const started: TallyProcess[] = []
const releases: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const process of started.splice(0)) await process.end()
  for (const release of releases.splice(0).reverse()) await release()
})

async function start(command: string, settings: Environment) {
  const process = startProcess([command], { ...tally.settings, ...settings })
  started.push(process)
  return process.started()
}

const open = (url: string) => {
  const db = openPostgres(url, { name: 'test', max: 2, statementTimeoutMs: 10_000, onError: () => {} })
  releases.push(() => db.destroy())
  return db
}

/** A festival whose records are sent; `says` waits until a query process has this many orders, live and in the list. */
async function newSagra(databaseUrl: string) {
  const sagra = newFestival()
  const send = (orders: number) => tally.produce(Array.from({ length: orders }, () => sagra.order()))
  await tally.produce([sagra.organization(), sagra.event()])
  await send(3)
  const { redis, settings } = tally
  const place = { db: open(databaseUrl), redis, redisPrefix: settings.REDIS_PREFIX ?? '' }
  const token = await tokenOnceKnown(place, sagra.organizationId)
  const says = (address: string, orders: number) =>
    until(`${orders} orders are answered`, async () => {
      const kpis = await ask(address, `${sagra.path}/analytics/kpis`, { token })
      const list = await ask(address, `${sagra.path}/orders`, { token })
      return kpis.body?.data?.totalOrders === orders && list.body?.meta?.pagination?.totalCount === orders
    })
  return { send, says }
}

test('with PgBouncer in session mode everything works, also after its restart', {
  timeout: 600_000,
}, async () => {
  const pooler = await startPgbouncer(tally.database.url)
  releases.push(pooler.stop)
  const settings = { DATABASE_URL: pooler.url }
  expect(await command(['migrate'], { ...tally.settings, ...settings })).toMatchObject({ code: 0 })
  await start('projector', settings)
  const { address } = await start('query', settings)
  const admin = await start('admin', settings)
  const sagra = await newSagra(settings.DATABASE_URL)
  await sagra.says(address, 3)
  expect((await ask(admin.ops, '/readyz')).status).toBe(200)
  expect(await command(['verify'], { ...tally.settings, ...settings })).toMatchObject({ code: 0 })

  await pooler.restart()
  await sagra.send(2)
  await sagra.says(address, 5)
})

test('of several hosts Tally uses the writable one, and after a failover its successor', {
  timeout: 600_000,
}, async () => {
  const pair = await startPair()
  releases.push(pair.stop)
  const [primary, standby] = [pair.primary, pair.standby].map(({ url }) => new URL(url).host)
  const { password } = new URL(pair.primary.url)
  // The standby comes first and is skipped.
  const settings = {
    DATABASE_URL: `postgres://postgres:${password}@${standby},${primary}/tally?target_session_attrs=read-write`,
  }
  expect(await command(['migrate'], { ...tally.settings, ...settings })).toMatchObject({ code: 0 })
  const own = { ...settings, KAFKA_GROUP_ID: `${tally.settings.KAFKA_GROUP_ID}-pair` }
  await start('projector', own)
  const { address } = await start('query', own)
  const sagra = await newSagra(settings.DATABASE_URL)
  const counted = async (orders: number) => sagra.says(address, orders)
  await counted(3)

  const before = open(pair.primary.url)
  await until('the standby has everything', async () => {
    const { rows } = await sql<{ behind: number }>`
select pg_current_wal_insert_lsn() - coalesce(min(replay_lsn), '0/0') as behind from pg_stat_replication`.execute(
      before,
    )
    return Number(rows[0]?.behind) === 0
  })
  await pair.primary.kill('SIGKILL')
  await pair.promote()
  await sagra.send(2)
  await counted(5)
})
