import type { DailyTotals } from '@tally/core'
import { type Kysely, sql } from 'kysely'
import { type AreaRow, type CounterScope, within } from '../counterScope.ts'
import type { Database } from '../postgres/database.ts'

export type DailyRow = AreaRow & DailyTotals

/** The daily totals of a scope, confirmed orders only. */
export async function readDaily(db: Kysely<Database>, scope: CounterScope): Promise<DailyRow[]> {
  const { rows } = await sql<DailyRow>`
select event_id, day_id, area_id,
  paid + preparing + ready_for_pickup + completed as orders,
  sales_cents as "salesCents",
  items_sold as "itemsSold"
from daily_counters as counter ${within(scope)}`.execute(db)
  return rows
}
