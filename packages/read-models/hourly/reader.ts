import type { BucketTotals } from '@tally/core'
import type { Database } from '@tally/storage'
import { type Kysely, sql } from 'kysely'
import { type AreaRow, type CounterScope, eventIdsOf, inScope } from '../counterScope.ts'

export type HourlyRow = AreaRow & BucketTotals & { timeZone: string }

/**
 * The totals of a scope by time bucket, each with its event's time zone: UTC while the event is not known. The zones
 * are read first (materialized): in a plain join Postgres may read every event.
 */
export async function readHourly(db: Kysely<Database>, scope: CounterScope): Promise<HourlyRow[]> {
  const { rows } = await sql<HourlyRow>`
with zones as materialized (select event_id, time_zone from events where event_id = any(${eventIdsOf(scope)}::uuid[]))
select counted.*, coalesce(time_zone, 'UTC') as "timeZone"
from (
  select event_id, day_id, area_id, bucket, orders, sales_cents as "salesCents"
  from hourly_counters as counter ${inScope(scope)}
) as counted
left join zones using (event_id)`.execute(db)
  return rows
}
