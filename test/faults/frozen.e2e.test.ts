import { setTimeout as sleep } from 'node:timers/promises'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'

/** docs/reliability.md, Postgres: a frozen process. */
const tally = useTally({ projectors: 1, partitions: 1 })
const sagra = newFestival()
const frozen = new Set<number>()
afterEach(() => {
  for (const pid of frozen) process.kill(pid, 'SIGCONT')
})

/** Of the projector. One whose lock was not granted in 0.1 s is "idle in transaction (aborted)". */
async function openTransactions(): Promise<number> {
  const { rows } = await sql`
select 1 from pg_stat_activity
where datname = current_database() and application_name = 'tally-projector' and state like 'idle in%'`.execute(
    tally.database.db,
  )
  return rows.length
}

test('a query process that was frozen answers all questions that it had, each with a 200', {
  timeout: 600_000,
}, async () => {
  const other = newFestival()
  await tally.count([other.organization(), other.event(), other.order()])
  const token = await tally.key(other.organizationId)
  const pid = tally.queries[0]?.process.pid ?? Number.NaN
  let isStopped = false
  const statuses: number[] = []
  // Order lists always come from Postgres; some questions are on their way to it at any time.
  const clients = Array.from({ length: 20 }, async () => {
    while (!isStopped) statuses.push((await tally.get(`${other.path}/orders`, { token })).status)
  })
  await until('many questions were answered', () => statuses.length > 200)
  frozen.add(pid)
  process.kill(pid, 'SIGSTOP')
  // Longer than any time-out of the query process.
  await sleep(10_000)
  frozen.delete(pid)
  process.kill(pid, 'SIGCONT')
  const before = statuses.length
  await until('it answers again', () => statuses.length > before + 200)
  isStopped = true
  await Promise.all(clients)
  expect(new Set(statuses)).toEqual(new Set([200]))
})

test('a projector that is frozen until Postgres ends its transaction continues, and counts once', {
  timeout: 600_000,
}, async () => {
  await tally.count([sagra.organization(), sagra.event(), sagra.order()])
  const token = await tally.key(sagra.organizationId)
  const { pid } = tally.projectors[0] as { pid: number }
  const topic = `${tally.settings.TOPIC_PREFIX}.orders`

  // While its row is locked, the batch waits inside its transaction.
  await tally.database.db.transaction().execute(async tx => {
    await sql`select 1 from shard_offsets where topic = ${topic} for update`.execute(tx)
    await tally.produce([sagra.order(), sagra.order()])
    frozen.add(pid)
    await until('the batch waits for its row, and its process is frozen', async () => {
      process.kill(pid, 'SIGSTOP')
      const { rows } = await sql`
select 1 from pg_locks join pg_stat_activity using (pid)
where not granted and application_name = 'tally-projector' and datname = current_database()
  and query like '%from shard_offsets%for update%'`.execute(tally.database.db)
      if (rows.length === 0) process.kill(pid, 'SIGCONT')
      return rows.length > 0
    })
  })
  // The lock is granted, or its wait ends, but the frozen process sends nothing: Postgres ends the transaction with
  // 25P03 after 30 s.
  await until('its transaction is open', async () => (await openTransactions()) > 0)
  await until('Postgres ends it', async () => (await openTransactions()) === 0, 90_000)
  frozen.delete(pid)
  process.kill(pid, 'SIGCONT')

  await tally.count([sagra.order()])
  const { body } = await tally.get(`${sagra.path}/analytics/kpis`, { token })
  expect(body.data.totalOrders).toBe(4)
  expect(await tally.projectors[0]?.end()).toBe(0)
})
