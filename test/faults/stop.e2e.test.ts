import { ask } from '@tally/testkit/processes/http'
import { startProcess, type TallyProcess } from '@tally/testkit/processes/process'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { openRelay, type Relay } from '@tally/testkit/servers/relay'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** docs/install.md, Installation: a process ends within 10 s of a SIGTERM, also while Postgres hangs. */
const tally = useTally({ projectors: 0, queries: 0, partitions: 1 })
const sagra = newFestival()
let relay: Relay
let settings: Record<string, string>
let projector: TallyProcess

beforeAll(async () => {
  const { url } = tally.database
  relay = await openRelay(url)
  settings = { ...tally.settings, DATABASE_URL: relay.through(url) }
  projector = startProcess(['projector'], settings)
  await projector.started()
  await tally.count([sagra.organization(), sagra.event(), sagra.order()])
})
afterAll(async () => {
  await projector.end('SIGKILL')
  await relay.close()
})

/** Waits until a process waits for a lock that the test holds, and then stalls its connection to Postgres. */
async function hangs(name: string): Promise<void> {
  await until(`the ${name} waits for a lock`, async () => {
    const { rows } = await sql`
select 1 from pg_locks join pg_stat_activity using (pid)
where not granted and application_name = ${`tally-${name}`} and datname = current_database()`.execute(
      tally.database.db,
    )
    return rows.length > 0
  })
  relay.stall()
}

async function expectEnds(process: TallyProcess): Promise<void> {
  const began = performance.now()
  expect(await process.end()).toBe(0)
  const tookMs = performance.now() - began
  console.info(`ended after ${Math.round(tookMs)} ms`)
  expect(tookMs).toBeLessThan(10_000)
}

test('a query process whose polls and notes of used keys wait for a hanging Postgres exits with 0 within 10 s', async () => {
  const query = await tally.startQuery(settings)
  const token = await tally.key(sagra.organizationId)
  relay.stall()
  await until('the query process has noticed', async () => {
    const { status } = await ask(query.address, `${sagra.path}/analytics/kpis`, { token })
    return status === 200 && query.process.log().includes('Postgres does not answer (')
  })
  await expectEnds(query.process)
  await relay.mend()
})

test('a query process with the longest drain whose requests wait for a hanging Postgres exits with 0 within 10 s', async () => {
  const query = await tally.startQuery({ ...settings, QUERY_DRAIN_MS: '5000' })
  const token = await tally.key(sagra.organizationId)
  expect((await ask(query.address, `${sagra.path}/orders`, { token })).status).toBe(200)
  let asked: Promise<unknown> | undefined
  await tally.database.db.transaction().execute(async tx => {
    await sql`lock table orders in access exclusive mode`.execute(tx)
    asked = ask(query.address, `${sagra.path}/orders`, { token }).catch(() => undefined)
    await hangs('query')
  })
  await expectEnds(query.process)
  await asked
  await relay.mend()
})

test('a projector whose batch waits for a hanging Postgres exits with 0 within 10 s', async () => {
  await tally.database.db.transaction().execute(async tx => {
    await sql`select 1 from shard_offsets where topic = ${`${tally.settings.TOPIC_PREFIX}.orders`} for update`.execute(
      tx,
    )
    await tally.produce([sagra.order(), sagra.order()])
    await hangs('projector')
  })
  await expectEnds(projector)
  await relay.mend()
})
