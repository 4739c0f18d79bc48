import type { EventId } from '@tally/contract'
import type { Postgres } from '@tally/platform'
import { projectBatch } from '@tally/projection'
import { openPostgres } from '@tally/schema'
import { batchOf, topics } from '@tally/testkit/projection/harness'
import { test } from '@tally/testkit/projection/projectionTest'
import { anEvent, anOrder, aRefund, newEventId, newOrganizationId } from '@tally/testkit/records/records'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { createPublisher } from './publish/publisher.ts'

test('an order leaves the hour that it was counted in, even if the time zone data has changed since', async ({
  harness,
  eventId,
  at,
}) => {
  await at.events(0, anEvent({ eventId, organizationId: newOrganizationId() }))
  await at.orders(0, anOrder({ eventId }), anOrder({ eventId, orderId: 'A-2' }))
  expect(await at.hours()).toMatchObject([{ hour: 21, orderCount: 2, revenue: 34 }])
  // As if another version of the time zone data placed the same record in another hour.
  await harness.db
    .updateTable('events')
    .set({ time_zone: 'Asia/Kathmandu' })
    .where('event_id', '=', eventId)
    .execute()
  await at.refunds(0, aRefund({ eventId }))
  expect(await at.hours()).toMatchObject([{ hour: 1, orderCount: 2, revenue: 25.5 }])
  await at.orders(
    2,
    anOrder({ eventId, version: 2, status: 'Cancelled' }),
    anOrder({ eventId, orderId: 'A-2', version: 2, orderDateTime: '2026-09-04T20:31:07Z' }),
  )
  expect(await at.hours()).toMatchObject([{ hour: 2, orderCount: 1, revenue: 17 }])
  const { rows } = await sql`
select from hourly_counters where event_id = ${eventId}::uuid and (orders < 0 or sales_cents < 0)`.execute(
    harness.db,
  )
  expect(rows).toEqual([])
})

/** 200,000 orders of an event in eight hours and two areas, as the batches of a day leave them. */
async function sellMuch(db: Postgres, eventId: string) {
  await sql`
insert into orders (event_id, order_id, version, status, day_id, area_id, ordered_at, total_cents, lines)
select ${eventId}::uuid, 'B-' || i, 1, 'Paid', 41, 1 + i % 2, 1788537600000 + i::bigint * 144, 1700, '[]'
from generate_series(0, 199999) as i`.execute(db)
  await sql`
insert into daily_counters
select ${eventId}::uuid, 41, area_id, 0, 0, orders, 0, 0, 0, 0, orders * 1700, 0
from (values (0, 200000), (1, 100000), (2, 100000)) as sold (area_id, orders)`.execute(db)
  await sql`
insert into hourly_counters
select event_id, 41, coalesce(area_id, 0), bucket, count(*), sum(total_cents)
from (select *, ordered_at - ordered_at % 900000 as bucket from orders where event_id = ${eventId}::uuid) as sold
group by event_id, bucket, grouping sets ((area_id), ())`.execute(db)
}

/** Rows read and written in a table since the server began to count. */
async function workOn(db: Postgres, table: string) {
  await sql`select pg_stat_force_next_flush()`.execute(db)
  const { rows } = await sql<{ read: number; written: number }>`
select seq_tup_read + idx_tup_fetch as read, n_tup_ins + n_tup_upd + n_tup_del as written
from pg_stat_user_tables where relname = ${table}`.execute(db)
  return rows[0] as { read: number; written: number }
}

test('a new time zone reads and recounts none of 200,000 orders', async ({ harness, eventId, at }) => {
  // One connection, so that its own statistics can be flushed before they are read.
  const options = { name: 'test', max: 1, statementTimeoutMs: 30_000, prepares: true, onError: () => {} }
  const db = openPostgres(harness.url, options)
  const organizationId = newEventId()
  try {
    await at.events(0, anEvent({ eventId, organizationId, timeZone: 'UTC' }))
    await sellMuch(db, eventId)
    const before = { orders: await workOn(db, 'orders'), hourly: await workOn(db, 'hourly_counters') }

    const moved = anEvent({ eventId, organizationId, version: 2, timeZone: 'Asia/Kathmandu' })
    const publisher = createPublisher({ db, redis: harness.redis, keys: harness.keys })
    const batch = batchOf(topics.events, 1, [moved])
    const { effects } = await projectBatch({ ...harness.deps, db }, 'events', batch)
    expect(effects?.counts).toMatchObject({ applied: 1 })
    if (effects !== undefined) publisher.add(batch, effects)
    await publisher.flush()

    expect(await workOn(db, 'orders')).toEqual(before.orders)
    const { read, written } = await workOn(db, 'hourly_counters')
    expect(written).toBe(before.hourly.written)
    // 32 quarters of an hour, of two areas and of all.
    expect(read - before.hourly.read).toBe(32 * 3)
    const hours = JSON.parse((await harness.readEvent(eventId as EventId))['hours:41:0'] ?? '[]')
    expect(hours.map(({ hour }: { hour: number }) => hour)).toEqual([0, 1, 2, 3, 4, 5, 21, 22, 23])
    expect(hours.reduce((sum: number, { orderCount }: { orderCount: number }) => sum + orderCount, 0)).toBe(
      200_000,
    )
  } finally {
    await db.destroy()
  }
})
