import type { EventId } from '@tally/contract'
import type { CounterChanges } from '@tally/core'
import { bigints, ints, uuids } from '@tally/storage'
import { sql } from 'kysely'
import { flattenAreas } from '../counterRows.ts'
import type { Write } from '../write.ts'

/** The write that adds changes to the hourly counters; undefined if nothing changes. */
export function addHourly(changes: Map<EventId, CounterChanges>): Write | undefined {
  const rows = flattenAreas(changes, ({ hourly }, key) =>
    [...hourly]
      .filter(([, { orders, salesCents }]) => orders !== 0 || salesCents !== 0)
      .sort(([one], [other]) => one - other)
      .map(([bucket, change]) => ({ ...key, bucket, ...change })),
  )
  if (rows.length === 0) return undefined
  return sql`
insert into hourly_counters as stored (event_id, day_id, area_id, bucket, orders, sales_cents)
select * from unnest(
  ${uuids(rows.map(({ eventId }) => eventId))}::uuid[],
  ${ints(rows.map(({ dayId }) => dayId))}::int[],
  ${ints(rows.map(({ areaId }) => areaId))}::int[],
  ${bigints(rows.map(({ bucket }) => bucket))}::bigint[],
  ${bigints(rows.map(({ orders }) => orders))}::bigint[],
  ${bigints(rows.map(({ salesCents }) => salesCents))}::bigint[]
)
on conflict (event_id, day_id, area_id, bucket) do update
set orders = stored.orders + excluded.orders, sales_cents = stored.sales_cents + excluded.sales_cents`
}
