import { Socket } from 'node:net'
import type { EventId, OrderId, OrganizationId, RefundId } from '@tally/contract'
import {
  composeDocuments,
  lockEvents,
  lockOrganizations,
  readEventHeads,
  readKnownEvents,
  readKnownOrders,
  readKnownRefunds,
  readStoredOrders,
} from '@tally/figures'
import { ensureOffsets, lockOffset, readOffsets } from '@tally/offsets'
import { isTransient, type Postgres } from '@tally/platform'
import { readUnpublished } from '@tally/publication'
import { databaseOfFile } from '@tally/testkit/servers/database'
import { sql } from 'kysely'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { openPostgres } from './database.ts'

const eventId = '7c1e4f6a-0000-4000-8000-000000000001' as EventId
const database = await databaseOfFile()
const opened: Postgres[] = []
afterAll(async () => {
  for (const db of opened) await db.destroy()
})

function open(over: Partial<Parameters<typeof openPostgres>[1]> = {}): Postgres {
  const options = { name: 'test', max: 1, statementTimeoutMs: 5_000, prepares: true, onError: () => {} }
  const db = openPostgres(database.url, { ...options, ...over })
  opened.push(db)
  return db
}

/** How often each of the connection's prepared statements was run. */
async function prepared(db: Postgres): Promise<number[]> {
  const { rows } = await sql<{ runs: number }>`
select generic_plans + custom_plans as runs from pg_prepared_statements`.execute(db)
  return rows.map(({ runs }) => runs)
}

const double = async (db: Postgres, value: number) =>
  (await sql<{ double: number }>`select ${value}::int * 2 as double`.execute(db)).rows[0]?.double

test('a text is prepared once and used for each value', async () => {
  const db = open()
  expect([await double(db, 2), await double(db, 21), await double(db, -1)]).toEqual([4, 42, -2])
  expect(await prepared(db)).toEqual([3])
})

test('a prepared text is planned once, whatever plan its values would allow', async () => {
  const db = open()
  await sql`create table wanted as select id from generate_series(1, 1000) as id`.execute(database.db)
  // A plan for one value expects fewer rows than one for an unknown array, so that Postgres would plan it each time.
  for (let round = 0; round < 8; round++)
    await sql`select count(*) from wanted join unnest(${[round]}::int[]) as id using (id)`.execute(db)
  const { rows } = await sql<{ kept: number; forValues: number }>`
select generic_plans as kept, custom_plans as "forValues" from pg_prepared_statements`.execute(db)
  expect(rows).toEqual([{ kept: 8, forValues: 0 }])
})

test('by default nothing is prepared', async () => {
  const db = open({ prepares: false })
  expect(await double(db, 2)).toBe(4)
  expect(await prepared(db)).toEqual([])
})

test('at most 200 texts are prepared, however many there are', async () => {
  const db = open()
  for (let i = 0; i < 250; i++) await sql`select ${i}::int + ${sql.lit(i)}`.execute(db)
  expect(await prepared(db)).toHaveLength(200)
})

test('a prepared text is prepared again on the connection that replaces a broken one', async () => {
  const db = open()
  expect(await double(db, 2)).toBe(4)
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  await sql`select pg_terminate_backend(${rows[0]?.pid}, 5000)`.execute(database.db)
  await vi.waitFor(async () => expect(await double(db, 3)).toBe(6), 120_000)
  expect(await prepared(db)).toEqual([1])
})

test('a connection whose prepared statements a pooler removed fails once, and is replaced', async () => {
  const db = open()
  expect(await double(db, 2)).toBe(4)
  await sql`deallocate all`.execute(db)
  await expect(double(db, 3)).rejects.toMatchObject({ code: '26000' })
  expect(await double(db, 3)).toBe(6)
})

test('a connection whose plan a migration made stale fails once in a transaction, and is replaced', async () => {
  const db = open()
  await sql`create table changing (a int)`.execute(database.db)
  const all = (id: number) =>
    db.transaction().execute(async tx => (await sql`select * from changing where a > ${id}`.execute(tx)).rows)
  expect(await all(1)).toEqual([])
  await sql`alter table changing add column b int`.execute(database.db)
  await expect(all(1)).rejects.toMatchObject({ code: '0A000' })
  expect(await all(1)).toEqual([])
})

test('each connection has the requested settings', async () => {
  const db = open({ lockTimeoutMs: 2_000, session: { search_path: 'pg_temp, public' } })
  const { rows } = await sql<{ name: string; setting: string }>`
select name, setting from pg_settings
where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'search_path', 'TimeZone')
order by lower(name)`.execute(db)
  expect(rows.map(({ name, setting }) => `${name}=${setting}`)).toEqual([
    'idle_in_transaction_session_timeout=30000',
    'lock_timeout=2000',
    'search_path=pg_temp, public',
    'statement_timeout=5000',
    'TimeZone=UTC',
  ])
})

test('an idle connection is kept alive before a gateway drops it', async () => {
  const setKeepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive')
  onTestFinished(() => setKeepAlive.mockRestore())
  expect(await double(open(), 1)).toBe(2)
  expect(setKeepAlive.mock.calls).toEqual([[true, 60_000]])
})

test('a transaction of a process that was frozen ends with a transient error, and can begin again', async () => {
  const db = open({ session: { idle_in_transaction_session_timeout: '100' } })
  const standStill = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
  const work = (before: () => unknown) =>
    db.transaction().execute(async tx => {
      await sql`select 1`.execute(tx)
      before()
      return (await sql<{ two: number }>`select 2 as two`.execute(tx)).rows
    })
  const error = await work(standStill).catch(error => error)
  expect(isTransient(error), String(error)).toBe(true)
  expect(await work(() => {})).toEqual([{ two: 2 }])
})

/** The queries of every batch of a projector. */
async function askAll(db: Postgres) {
  await db.transaction().execute(async tx => {
    await lockOffset(tx, 't.orders', 0)
    await lockEvents(tx, new Map([[eventId, 0]]))
    await readKnownEvents(tx, [eventId])
    const orders = new Map([[eventId, new Map([['A-1' as OrderId, undefined]])]])
    await readKnownOrders(tx, orders)
    await readStoredOrders(tx, orders)
    await readKnownRefunds(tx, [{ eventId, refundId: 'R-1' as RefundId }])
    await lockOrganizations(tx, [eventId as string as OrganizationId])
  })
  await readEventHeads(db, [eventId])
  await composeDocuments(db, { events: [eventId] })
  await composeDocuments(db, { areas: [{ eventId, dayId: 41, areaId: 1 }] })
  await readUnpublished(db, new Map([[eventId, { whole: true }]]))
  return readOffsets(db, ['t.orders'])
}
const asked = ['shard_offsets', 'event_heads', 'events', 'orders', 'refunds', 'organizations']
const counters = ['daily_counters', 'hourly_counters', 'item_counters']

test('the queries of a batch never scan a whole table, even if it was empty when they were prepared', async () => {
  const db = open()
  // What the migrations read is counted when their connection ends, at the latest.
  await sql`
select pg_terminate_backend(pid, 5000) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid()`.execute(db)
  await sql`select pg_stat_reset()`.execute(db)
  await ensureOffsets(db, 't.orders', [0])
  for (let i = 0; i < 8; i++) await askAll(db)
  await sql`select pg_stat_force_next_flush()`.execute(db)
  const { rows } = await sql<{ name: string; whole: number; byKey: number }>`
select relname as name, seq_scan as whole, idx_scan as "byKey" from pg_stat_user_tables
where relname = any(${[...asked, ...counters]}::text[])`.execute(db)
  expect(rows).toHaveLength(9)
  expect(rows.filter(({ whole, byKey }) => whole > 0 || byKey < 8)).toEqual([])
})

test('the queries of a batch continue to work after a migration that adds columns', async () => {
  const db = open()
  await ensureOffsets(db, 't.orders', [0])
  const before = await askAll(db)
  for (const table of [...asked, ...counters])
    await sql`alter table ${sql.table(table)} add column added int`.execute(database.db)
  expect(await askAll(db)).toEqual(before)
})
