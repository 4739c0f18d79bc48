import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { revokeKey } from '@tally/access'
import type { Postgres } from '@tally/platform'
import { openPostgres } from '@tally/schema'
import { tally as command } from '@tally/testkit/processes/command'
import { startTally, type Tally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '#infra/command.ts'
import { postgresPrograms } from '#infra/install/postgresPrograms.ts'
import { freePort } from '#infra/servers/ports.ts'
import { postgresServer } from '#infra/servers/postgres.ts'
import { postgresOwner } from '#infra/servers/postgresOwner.ts'
import type { Server } from '#infra/servers/server.ts'
import { blocksUnder } from './support/documented.ts'

/** docs/operations.md, Backup and restore: runs the commands of that section. */
const sagra = newFestival()
const folder = mkdtempSync(join(tmpdir(), 'tally-backup-'))
const backup = join(folder, 'backup')
const logFile = join(folder, 'log')
let programs: string
let server: Server
let tally: Tally
let db: Postgres

beforeAll(async () => {
  programs = await postgresPrograms(console.error)
  // The user that runs Postgres must be able to enter it.
  chmodSync(folder, 0o755)
  const setup = {
    folder: join(folder, 'postgres'),
    logFile,
    port: await freePort(),
    durable: true,
    brief: true,
  }
  server = await postgresServer({ ...setup, log: () => {}, onDeath: console.error }, programs)
  await server.start()
  mkdirSync(backup)
  const owner = await postgresOwner()
  if (owner !== undefined) chownSync(backup, owner.uid, owner.gid)
  await asOwner(`mkdir ${backup}/wal ${backup}/base`)
  db = openPostgres(server.url, { name: 'test', max: 1, statementTimeoutMs: 30_000, onError: () => {} })
  tally = await startTally({ server: server.url, projectors: 2, queries: 1 })
  await tally.count([sagra.organization(), sagra.event()])
})
afterAll(async () => {
  await tally?.stop()
  await db?.destroy()
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** A block of the page; `/backup` stands for the folder of this test. */
function documented(title: string, language: string): string {
  const found = blocksUnder('operations.md', title).filter(block => block.language === language)
  expect(found).toHaveLength(1)
  return (found[0]?.text ?? '').replaceAll('/backup', backup)
}

/** Runs a script as the user of Postgres. */
async function asOwner(script: string, more: Record<string, string> = {}): Promise<void> {
  const PATH = `${programs}/bin:${process.env.PATH}`
  await run('sh', ['-eu', '-c', script], {
    owner: await postgresOwner(),
    cwd: folder,
    env: { PATH, PGDATA: join(folder, 'postgres/data'), DATABASE_URL: server.url, ...more },
  })
}

/** Sends an order every 20 ms until `stop`, which returns how many there were. */
function sell(): { stop: () => Promise<number> } {
  let isOver = false
  let sold = 0
  const selling = (async () => {
    for (; !isOver; sold++) {
      await tally.produce([sagra.order()])
      await sleep(20)
    }
  })()
  return {
    stop: async () => {
      isOver = true
      await selling
      return sold
    },
  }
}

async function archivePostgres(): Promise<void> {
  for (const statement of documented('Base backups and WAL', 'sql').split(';\n'))
    await sql.raw(statement).execute(db)
  await server.stop()
  await server.start()
}

/** The time now; what is committed afterwards is archived when this returns. */
async function beginLost(lose: () => Promise<void>): Promise<string> {
  const { rows } = await sql<{ target: string }>`select clock_timestamp()::text as target`.execute(db)
  await lose()
  const { rows: wal } = await sql<{ file: string }>`select pg_walfile_name(pg_switch_wal()) as file`.execute(
    db,
  )
  await until('the WAL is archived', async () => {
    const { rows } = await sql<{ last: string }>`
select coalesce(last_archived_wal, '') as last from pg_stat_archiver`.execute(db)
    return (rows[0]?.last ?? '') >= (wal[0]?.file ?? '~')
  })
  return rows[0]?.target ?? ''
}

const statusOf = async (token: string): Promise<number> =>
  (await tally.get(`${sagra.path}/analytics/kpis`, { token })).status

test('a backup is restored to a point in time while records arrive, and all figures are exact by themselves', async () => {
  await archivePostgres()
  const kept = await tally.key(sagra.organizationId)
  const till = sell()
  await asOwner(documented('Base backups and WAL', 'sh'))
  const [later, revoked] = [await tally.key(sagra.organizationId), await tally.key(sagra.organizationId)]
  await tally.settle()

  let lost = ''
  const target = await beginLost(async () => {
    lost = await tally.key(sagra.organizationId)
    await revokeKey(tally.database.db, revoked.split('_')[1] ?? '')
    await tally.settle()
  })
  await server.kill('SIGKILL')
  await asOwner(documented('Restore to a point in time', 'sh'), { TARGET: target })
  await server.start()
  expect(readFileSync(logFile, 'utf8')).toMatch(/recovery stopping before (commit|abort) of transaction/)

  await tally.settle()
  const orders = await till.stop()
  await tally.settle()
  const { body } = await tally.get(`${sagra.path}/analytics/kpis`, { token: kept })
  expect(body.data.totalOrders).toBe(orders)
  const list = await tally.get(`${sagra.path}/orders`, { token: kept })
  expect(list.body.meta.pagination.totalCount).toBe(orders)
  const verified = await command(['verify'], tally.settings)
  expect(verified).toMatchObject({ code: 0, stdout: '' })
  // What Postgres alone has is as old as the target.
  await until('keys are as they were', async () => {
    const statuses = await Promise.all([kept, later, revoked, lost].map(statusOf))
    return statuses.join() === '200,200,200,401'
  })
})
