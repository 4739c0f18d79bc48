import type { ItemTotals } from '@tally/core'
import { type Kysely, sql } from 'kysely'
import { type AreaRow, type CounterScope, within } from '../counterScope.ts'
import type { Database } from '../postgres/database.ts'

export type ItemRow = AreaRow & ItemTotals

/** The item totals of a scope. */
export async function readItems(db: Kysely<Database>, scope: CounterScope): Promise<ItemRow[]> {
  const { rows } = await sql<ItemRow>`
select event_id, day_id, area_id,
  menu_item_id as "menuItemId",
  orders,
  quantity,
  gross_cents as "grossCents",
  refunded_quantity as "refundedQuantity",
  refunded_cents as "refundedCents"
from item_counters as counter ${within(scope)}`.execute(db)
  return rows
}
