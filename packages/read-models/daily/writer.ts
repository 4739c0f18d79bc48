import type { EventId } from '@tally/contract'
import type { CounterChanges, DailyChange } from '@tally/core'
import { bigints, ints, uuids } from '@tally/storage'
import { sql } from 'kysely'
import { flattenAreas } from '../counterRows.ts'
import { areZero, statusArrays, statusColumnNames, statusColumnSums } from '../statusCounts.ts'
import type { Write } from '../write.ts'

/** The write that adds changes to the daily counters; undefined if nothing changes. */
export function addDaily(changes: Map<EventId, CounterChanges>): Write | undefined {
  const rows = flattenAreas(changes, ({ daily }, key) => (isEmpty(daily) ? [] : [{ ...key, ...daily }]))
  if (rows.length === 0) return undefined
  const column = <Value>(pick: (row: (typeof rows)[number]) => Value) => rows.map(pick)
  return sql`
insert into daily_counters as stored (
  event_id, day_id, area_id, ${statusColumnNames}, sales_cents, items_sold
)
select * from unnest(
  ${uuids(column(({ eventId }) => eventId))}::uuid[],
  ${ints(column(({ dayId }) => dayId))}::int[],
  ${ints(column(({ areaId }) => areaId))}::int[],
  ${statusArrays(rows, counts => sql`${bigints(counts)}::bigint[]`)},
  ${bigints(column(({ salesCents }) => salesCents))}::bigint[],
  ${bigints(column(({ itemsSold }) => itemsSold))}::bigint[]
)
on conflict (event_id, day_id, area_id) do update set
  ${statusColumnSums},
  sales_cents = stored.sales_cents + excluded.sales_cents,
  items_sold = stored.items_sold + excluded.items_sold`
}

function isEmpty({ statuses, salesCents, itemsSold }: DailyChange): boolean {
  return salesCents === 0 && itemsSold === 0 && areZero(statuses)
}
