import type { EventId, OrderStatus } from '@tally/contract'
import { allAreas, type DailyTotals, noStatuses } from '@tally/core'
import type { Database } from '@tally/storage'
import { type Kysely, sql } from 'kysely'
import { type AreaRow, type CounterScope, inScope } from '../counterScope.ts'
import { statusCounts } from '../statusCounts.ts'

export type DailyRow = AreaRow & DailyTotals

/** The daily totals of a scope, confirmed orders only. */
export async function readDaily(db: Kysely<Database>, scope: CounterScope): Promise<DailyRow[]> {
  const { rows } = await sql<DailyRow>`
select event_id, day_id, area_id,
  paid + preparing + ready_for_pickup + completed as orders,
  sales_cents as "salesCents",
  items_sold as "itemsSold"
from daily_counters as counter ${inScope(scope)}`.execute(db)
  return rows
}

/** The number of orders by status of a day, all areas. */
export async function readStatuses(
  db: Kysely<Database>,
  { eventId, dayId }: { eventId: EventId; dayId: number },
): Promise<Record<OrderStatus, number>> {
  const { rows } = await sql<Record<OrderStatus, number>>`
select ${statusCounts}
from daily_counters
where event_id = ${eventId} and day_id = ${dayId} and area_id = ${allAreas}`.execute(db)
  return rows[0] ?? noStatuses()
}
