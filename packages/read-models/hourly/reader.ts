import type { HourTotals } from '@tally/core'
import { type Kysely, sql } from 'kysely'
import { type AreaRow, type CounterScope, within } from '../counterScope.ts'
import type { Database } from '../postgres/database.ts'

export type HourlyRow = AreaRow & HourTotals

/** The hourly totals of a scope. */
export async function readHourly(db: Kysely<Database>, scope: CounterScope): Promise<HourlyRow[]> {
  const { rows } = await sql<HourlyRow>`
select event_id, day_id, area_id, hour, orders, sales_cents as "salesCents"
from hourly_counters as counter ${within(scope)}`.execute(db)
  return rows
}
