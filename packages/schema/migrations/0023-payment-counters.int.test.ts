import type { EventId, Order } from '@tally/contract'
import {
  addChanges,
  type CounterChanges,
  factsOf,
  noRefunds,
  readCounters,
  scanOrders,
  storeRefundSums,
} from '@tally/figures'
import { countNewOrders } from '@tally/testkit/records/countNewOrders'
import { anOrder } from '@tally/testkit/records/decoded'
import { newEventId } from '@tally/testkit/records/records'
import { databaseOfFile } from '@tally/testkit/servers/database'
import { until } from '@tally/testkit/until'
import { type Kysely, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { expect, test } from 'vitest'
import { migrate, migrations } from '../migrate.ts'

const database = await databaseOfFile({ migrated: false })

const eventId = newEventId()
const order = (orderId: string, fields: Record<string, unknown> = {}): Order =>
  anOrder({ eventId, orderId, ...fields })

async function migrateTo(last: string): Promise<void> {
  const chosen = Object.entries(migrations).filter(([name]) => name <= last)
  const provider = { getMigrations: async () => Object.fromEntries(chosen) }
  const { error } = await new Migrator({ db: database.db, provider }).migrateToLatest()
  if (error !== undefined) throw error
}

type Written = { orders?: Order[]; refunded?: Record<string, number> }

/** What a projector of the version before does to orders. */
async function writeAsBefore(db: Kysely<never>, { orders = [], refunded = {} }: Written): Promise<void> {
  const sums = Object.entries(refunded).map(([orderId, amount]) => ({
    eventId,
    orderId: orderId as Order['orderId'],
    refunds: { ...noRefunds, amount },
  }))
  if (sums.length > 0) await storeRefundSums(sums).execute(db)
  if (orders.length > 0) await storeAsBefore(orders).execute(db)
}

/** As `storeOrders`, but only what payments are counted from: later columns do not exist at each step. */
const storeAsBefore = (orders: Order[]) => sql`
insert into orders (event_id, order_id, version, status, day_id, area_id, ordered_at, payment_method, total_cents, lines)
select "eventId", "orderId", version, status, "dayId", "areaId", "orderDateTime", "paymentMethod", "totalAmount", '[]'
from json_to_recordset(${JSON.stringify(orders)}) as orders ("eventId" uuid, "orderId" text, version bigint,
  status order_status, "dayId" int, "areaId" int, "orderDateTime" bigint, "paymentMethod" text, "totalAmount" bigint)
on conflict (event_id, order_id) do update
set (version, status, day_id, area_id, ordered_at, payment_method, total_cents, lines) = row(excluded.version,
  excluded.status, excluded.day_id, excluded.area_id, excluded.ordered_at, excluded.payment_method,
  excluded.total_cents, excluded.lines)`

/** The payments that are counted, and those that the stored orders state; without rows of zeros. */
async function payments(): Promise<{ counted: string[]; stated: string[] }> {
  const stated: CounterChanges = new Map()
  for await (const { order, refundedCents } of scanOrders(database.db, eventId as EventId)) {
    const facts = factsOf({ order, refunds: { ...noRefunds, amount: refundedCents } })
    if (facts !== undefined) addChanges(stated, [{ sign: 1, facts }])
  }
  return {
    counted: rowsOf(await readCounters(database.db, eventId as EventId)),
    stated: rowsOf(stated),
  }
}

const rowsOf = (changes: CounterChanges): string[] =>
  [...changes]
    .flatMap(([dayId, areas]) =>
      [...areas].flatMap(([areaId, { payments }]) =>
        [...payments]
          .map(([method, row]) => ({ method, amounts: Object.values(row) }))
          .filter(({ amounts }) => amounts.some(amount => amount !== 0))
          .map(({ method, amounts }) => `${dayId}/${areaId}/${method} ${amounts}`),
      ),
    )
    .sort()

async function expectExact(): Promise<void> {
  const { counted, stated } = await payments()
  expect(counted).toEqual(stated)
  expect(stated.length).toBeGreaterThan(0)
}

test('payments are exact while a projector of the version before writes, at each step of the upgrade', async () => {
  const { db } = database
  const old = db as unknown as Kysely<never>
  await migrateTo('0022-passkeys')
  await writeAsBefore(old, {
    orders: [
      order('A'),
      order('B', { status: 'Pending', paymentMethod: 'Card' }),
      order('C', { paymentMethod: '' }),
      order('F', { totalAmount: -4 }),
    ],
    refunded: { C: 300, 'comes-later': 100, F: 50 },
  })

  await migrateTo('0023-payment-counters')
  await writeAsBefore(old, {
    orders: [order('A', { version: 2, paymentMethod: 'Card' }), order('D', { areaId: 2 })],
  })
  let filling: Promise<void> | undefined
  await db.transaction().execute(async tx => {
    await writeAsBefore(tx as unknown as Kysely<never>, {
      orders: [order('A', { version: 3, areaId: 2, paymentMethod: 'Card' }), order('E')],
    })
    filling = migrateTo('0024-payments-of-stored-orders')
    filling.catch(() => undefined)
    await until('the migration waits for a counter of this batch', async () => {
      const { rows } =
        await sql`select from pg_locks where not granted and locktype = 'transactionid'`.execute(tx)
      return rows.length > 0
    })
  })
  await filling
  // What counts is of this version, and needs all its expansions.
  await migrate(db)
  await expectExact()

  await writeAsBefore(old, {
    orders: [order('B', { version: 2, paymentMethod: 'Card' }), order('comes-later', { dayId: 42 })],
    refunded: { D: 10_000, A: 5 },
  })
  await countNewOrders(db, [order('G'), order('H', { paymentMethod: 'Voucher' })])
  await sql`delete from orders where order_id = 'E'`.execute(db)
  await expectExact()

  expect(await migrate(db, { contracts: true })).toEqual([
    '0025-contract-payment-triggers',
    '0026-contract-order-slots',
  ])
  await countNewOrders(db, [order('I')])
  await expectExact()
})
