import { orderStatuses } from '@tally/contract'
import { countNewOrders } from '@tally/testkit/records/countNewOrders'
import { anOrder } from '@tally/testkit/records/decoded'
import { newEventId } from '@tally/testkit/records/records'
import { freshDatabase, type TestDatabase } from '@tally/testkit/servers/database'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storeRefundSums } from '../orders/writer.ts'
import * as timeBuckets from './0008-time-buckets.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

/** 200 orders of every status from each of these times on, 13 s apart. */
const since = ['1970-01-01T00:00:00Z', '1979-12-31T23:45:00Z', '2022-12-31T23:45:00Z', '2026-09-04T18:00:00Z']
const ordersOf = (eventId: string) =>
  since.flatMap((from, index) =>
    Array.from({ length: 200 }, (_, i) =>
      anOrder({
        eventId,
        orderId: `A-${index}-${i}`,
        status: orderStatuses[i % 7],
        dayId: 41 + (i % 2),
        areaId: 1 + (i % 3),
        totalAmount: 1 + i / 4,
        orderDateTime: new Date(Date.parse(from) + i * 13_007).toISOString(),
      }),
    ),
  )

const counters = async () =>
  (await sql`select * from hourly_counters order by event_id, day_id, area_id, bucket`.execute(database.db))
    .rows

/** The schema as the migration finds it. */
async function goBack() {
  await sql`drop table hourly_counters; drop index orders_by_time`.execute(database.db)
  await sql`
create table hourly_counters (
  event_id uuid, day_id integer, area_id integer, hour smallint, orders bigint, sales_cents bigint,
  primary key (event_id, day_id, area_id, hour)
);
create index orders_by_time on orders (event_id, ordered_at desc, order_id desc) where version > 0`.execute(
    database.db,
  )
}

test('time buckets are filled from the kept orders as the projector would have counted them', async () => {
  const [eventId, other] = [newEventId(), newEventId()]
  await countNewOrders(database.db, ordersOf(eventId))
  await countNewOrders(database.db, [anOrder({ eventId: other })])
  const refunds = { amount: 9_999_999, lines: [] }
  await database.db
    .transaction()
    .execute(tx => storeRefundSums([{ eventId, orderId: 'never-comes' as never, refunds }]).execute(tx))
  const counted = await counters()
  expect(counted.length).toBeGreaterThan(100)

  await goBack()
  await database.db.transaction().execute(tx => timeBuckets.up(tx as unknown as Kysely<unknown>))
  expect(await counters()).toEqual(counted)
})

test('refunded money does not count as takings of a bucket, and never exceeds those of the order', async () => {
  const eventId = newEventId()
  await countNewOrders(database.db, [
    anOrder({ eventId, orderId: 'A-1' }),
    anOrder({ eventId, orderId: 'A-2', areaId: 2 }),
  ])
  const refund = (orderId: string, amount: number) => ({
    eventId,
    orderId: orderId as never,
    refunds: { amount, lines: [] },
  })
  await database.db
    .transaction()
    .execute(tx => storeRefundSums([refund('A-1', 700), refund('A-2', 9_999_999)]).execute(tx))
  await goBack()
  await database.db.transaction().execute(tx => timeBuckets.up(tx as unknown as Kysely<unknown>))
  const { rows } = await sql`
select area_id, orders, sales_cents from hourly_counters where event_id = ${eventId} order by area_id`.execute(
    database.db,
  )
  expect(rows).toEqual([
    { area_id: 0, orders: 2, sales_cents: 1000 },
    { area_id: 1, orders: 1, sales_cents: 1000 },
    { area_id: 2, orders: 1, sales_cents: 0 },
  ])
})
