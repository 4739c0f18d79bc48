import type { EventId } from '@tally/contract'
import type { CounterChanges, DailyChange } from '@tally/core'
import { bigints, ints, uuids } from '@tally/storage'
import { sql } from 'kysely'
import { flattenAreas } from '../counterRows.ts'
import { areZero } from '../statusCounts.ts'
import type { Write } from '../write.ts'

/** The write that adds changes to the daily counters; undefined if nothing changes. */
export function addDaily(changes: Map<EventId, CounterChanges>): Write | undefined {
  const rows = flattenAreas(changes, ({ daily }, key) => (isEmpty(daily) ? [] : [{ ...key, ...daily }]))
  if (rows.length === 0) return undefined
  const column = <Value>(pick: (row: (typeof rows)[number]) => Value) => rows.map(pick)
  return sql`
insert into daily_counters as stored (
  event_id, day_id, area_id, pre_order, pending, paid, preparing, ready_for_pickup, completed, cancelled, sales_cents, items_sold
)
select * from unnest(
  ${uuids(column(({ eventId }) => eventId))}::uuid[],
  ${ints(column(({ dayId }) => dayId))}::int[],
  ${ints(column(({ areaId }) => areaId))}::int[],
  ${bigints(column(({ statuses }) => statuses.PreOrder))}::bigint[],
  ${bigints(column(({ statuses }) => statuses.Pending))}::bigint[],
  ${bigints(column(({ statuses }) => statuses.Paid))}::bigint[],
  ${bigints(column(({ statuses }) => statuses.Preparing))}::bigint[],
  ${bigints(column(({ statuses }) => statuses.ReadyForPickup))}::bigint[],
  ${bigints(column(({ statuses }) => statuses.Completed))}::bigint[],
  ${bigints(column(({ statuses }) => statuses.Cancelled))}::bigint[],
  ${bigints(column(({ salesCents }) => salesCents))}::bigint[],
  ${bigints(column(({ itemsSold }) => itemsSold))}::bigint[]
)
on conflict (event_id, day_id, area_id) do update set
  pre_order = stored.pre_order + excluded.pre_order,
  pending = stored.pending + excluded.pending,
  paid = stored.paid + excluded.paid,
  preparing = stored.preparing + excluded.preparing,
  ready_for_pickup = stored.ready_for_pickup + excluded.ready_for_pickup,
  completed = stored.completed + excluded.completed,
  cancelled = stored.cancelled + excluded.cancelled,
  sales_cents = stored.sales_cents + excluded.sales_cents,
  items_sold = stored.items_sold + excluded.items_sold`
}

function isEmpty({ statuses, salesCents, itemsSold }: DailyChange): boolean {
  return salesCents === 0 && itemsSold === 0 && areZero(statuses)
}
