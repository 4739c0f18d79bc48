import type { EventId, OrderId, OrganizationId, RefundId } from '@tally/contract'
import {
  composeDocuments,
  ensureOffsets,
  lockEvents,
  lockOffset,
  lockOrganizations,
  readEventHeads,
  readKnownOrders,
  readOffsets,
  readOrganizationsSince,
  readSeenRefunds,
} from '@tally/read-models'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { openPostgres, type Postgres } from './pool.ts'

const eventId = '7c1e4f6a-0000-4000-8000-000000000001' as EventId
let database: TestDatabase
const opened: Postgres[] = []
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => {
  for (const db of opened) await db.destroy()
  await database.drop()
})

function open(prepares: boolean): Postgres {
  const options = { name: 'test', max: 1, statementTimeoutMs: 5_000, onError: () => {} }
  const db = openPostgres(database.url, { ...options, prepares })
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

test('a text is prepared once, and answers for each value', async () => {
  const db = open(true)
  expect([await double(db, 2), await double(db, 21), await double(db, -1)]).toEqual([4, 42, -2])
  expect(await prepared(db)).toEqual([3])
})

test('without being asked nothing is prepared', async () => {
  const db = open(false)
  expect(await double(db, 2)).toBe(4)
  expect(await prepared(db)).toEqual([])
})

test('however many texts there are, Postgres keeps few of them', async () => {
  const db = open(true)
  for (let i = 0; i < 250; i++) await sql`select ${i}::int + ${sql.lit(i)}`.execute(db)
  expect(await prepared(db)).toHaveLength(200)
})

test('a prepared text is prepared anew on the connection that comes after a broken one', async () => {
  const db = open(true)
  expect(await double(db, 2)).toBe(4)
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  await sql`select pg_terminate_backend(${rows[0]?.pid}, 5000)`.execute(database.db)
  await vi.waitFor(async () => expect(await double(db, 3)).toBe(6))
  expect(await prepared(db)).toEqual([1])
})

test('what a projector asks all the time outlives a migration that adds columns', async () => {
  const db = open(true)
  const tables = ['shard_offsets', 'event_heads', 'events', 'orders', 'refunds']
  await ensureOffsets(db, 't.orders', [0])
  const ask = async () => {
    await db.transaction().execute(async tx => {
      await lockOffset(tx, 't.orders', 0)
      await lockEvents(tx, [eventId], 0)
      await readKnownOrders(tx, [{ eventId, orderId: 'A-1' as OrderId }])
      await readSeenRefunds(tx, [{ eventId, refundId: 'R-1' as RefundId }])
      await lockOrganizations(tx, [eventId as string as OrganizationId])
    })
    await readEventHeads(db, [eventId])
    await composeDocuments(db, { events: [eventId] })
    await readOrganizationsSince(db, 0)
    return readOffsets(db, ['t.orders'])
  }
  const before = await ask()
  const counters = ['daily_counters', 'hourly_counters', 'item_counters', 'organizations']
  for (const table of [...tables, ...counters])
    await sql`alter table ${sql.table(table)} add column added int`.execute(database.db)
  expect(await ask()).toEqual(before)
})
