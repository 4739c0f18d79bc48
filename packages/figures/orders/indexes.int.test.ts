import { orderStatuses } from '@tally/contract'
import type { Postgres } from '@tally/platform'
import { openPostgres } from '@tally/schema'
import { countNewOrders } from '@tally/testkit/records/countNewOrders'
import { anOrder } from '@tally/testkit/records/decoded'
import { newEventId } from '@tally/testkit/records/records'
import { databaseOfFile } from '@tally/testkit/servers/database'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storeRefundSums } from '../refunds.ts'
import { type OrderFilter, readOrderPage } from './reader.ts'
import { storeOrders } from './table.ts'

const database = await databaseOfFile()
/** One connection, so that its own statistics can be flushed before they are read. */
let db: Postgres
const eventId = newEventId()

const order = (i: number, fields: Record<string, unknown> = {}) =>
  anOrder({
    eventId,
    orderId: `A-${String(i).padStart(5, '0')}`,
    status: orderStatuses[i % 7],
    dayId: 41 + (i % 2),
    areaId: 1 + (i % 3),
    orderDateTime: new Date(Date.parse('2026-09-04T18:00:00Z') + i * 1_000).toISOString(),
    ...fields,
  })

beforeAll(async () => {
  db = openPostgres(database.url, { name: 'test', max: 1, statementTimeoutMs: 30_000, onError: () => {} })
  const all = Array.from({ length: 10_000 }, (_, i) => order(i))
  for (let from = 0; from < all.length; from += 2_000) await countNewOrders(db, all.slice(from, from + 2_000))
})
afterAll(() => db.destroy())

test('a new version of an order and a refund are HOT updates while their page has room', async () => {
  // Some orders of each page, which fit into its free 15 percent.
  const some = Array.from({ length: 400 }, (_, i) => 24 * i)
  const sums = some.map(i => ({ eventId, orderId: order(i).orderId, refunds: { amount: 100, lines: [] } }))
  const { rows } = await db.transaction().execute(async tx => {
    await storeOrders(some.map(i => order(i, { version: 2, status: 'Completed' })))?.execute(tx)
    await storeRefundSums(sums).execute(tx)
    return sql`
select n_tup_upd as updates, n_tup_hot_upd as hot from pg_stat_xact_user_tables where relname = 'orders'`.execute(
      tx,
    )
  })
  expect(rows).toEqual([{ updates: 800, hot: 800 }])
})

/** How often the list's index was read, and how often the whole table was. */
async function reads() {
  await sql`select pg_stat_force_next_flush()`.execute(db)
  const { rows } = await sql<{ byTime: number; whole: number }>`
select index.idx_scan as "byTime", orders.seq_scan as whole
from pg_stat_user_indexes as index join pg_stat_user_tables as orders using (relid)
where index.indexrelname = 'orders_by_time'`.execute(db)
  return rows[0] as { byTime: number; whole: number }
}

const all: OrderFilter = { eventId, dayId: undefined, areaId: undefined, status: undefined }
const pages: { page: string; filter: OrderFilter; at: { offset: number; deep?: number } }[] = [
  { page: 'the first page', filter: all, at: { offset: 0 } },
  { page: 'a page read from the top', filter: all, at: { offset: 900 } },
  { page: 'a deep page', filter: all, at: { offset: 7_000 } },
  { page: 'a page of a day', filter: { ...all, dayId: 41 }, at: { offset: 3_000 } },
  { page: 'a page of an area', filter: { ...all, areaId: 2 }, at: { offset: 2_000 } },
  { page: 'a page of a status', filter: { ...all, status: 'Cancelled' }, at: { offset: 1_000 } },
]

test.for(pages)('$page is read through the index of the list', async ({ filter, at }) => {
  for (const analyze of [false, true]) {
    if (analyze) await sql`analyze orders, order_buckets`.execute(db)
    const before = await reads()
    const { orders } = await readOrderPage(db, filter, { limit: 20, mostBytes: 1_000_000, ...at })
    expect(orders).toHaveLength(20)
    const after = await reads()
    expect(after).toEqual({ byTime: before.byTime + 1, whole: before.whole })
  }
})
