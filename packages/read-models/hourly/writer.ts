import type { EventId } from '@tally/contract'
import type { CounterChanges } from '@tally/core'
import { sql } from 'kysely'
import { flattenAreas } from '../counterRows.ts'
import { bigints, ints, uuids } from '../postgres/binaryArrays.ts'
import type { Tx } from '../postgres/database.ts'

/** Adds changes to the hourly counters. */
export async function addHourly(tx: Tx, changes: Map<EventId, CounterChanges>): Promise<void> {
  const rows = flattenAreas(changes, ({ hourly }, key) =>
    [...hourly]
      .filter(([, { orders, salesCents }]) => orders !== 0 || salesCents !== 0)
      .sort(([one], [other]) => one - other)
      .map(([hour, change]) => ({ ...key, hour, ...change })),
  )
  if (rows.length === 0) return
  await sql`
insert into hourly_counters as stored (event_id, day_id, area_id, hour, orders, sales_cents)
select * from unnest(
  ${uuids(rows.map(({ eventId }) => eventId))}::uuid[],
  ${ints(rows.map(({ dayId }) => dayId))}::int[],
  ${ints(rows.map(({ areaId }) => areaId))}::int[],
  ${ints(rows.map(({ hour }) => hour))}::int[],
  ${bigints(rows.map(({ orders }) => orders))}::bigint[],
  ${bigints(rows.map(({ salesCents }) => salesCents))}::bigint[]
)
on conflict (event_id, day_id, area_id, hour) do update
set orders = stored.orders + excluded.orders, sales_cents = stored.sales_cents + excluded.sales_cents`.execute(
    tx,
  )
}
