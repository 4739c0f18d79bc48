import type { ItemTotals } from '@tally/core'
import { type Kysely, sql } from 'kysely'
import { type AreaRow, type CounterScope, within } from '../counterScope.ts'
import type { Database } from '../postgres/database.ts'
import { eachItem } from './table.ts'

export type ItemRow = AreaRow & ItemTotals

/** The item totals of a scope. */
export async function readItems(db: Kysely<Database>, scope: CounterScope): Promise<ItemRow[]> {
  const { rows } = await sql<ItemRow>`
select event_id, day_id, area_id,
  item.menu_item_id as "menuItemId",
  item.orders,
  item.quantity,
  item.gross_cents as "grossCents",
  item.refunded_quantity as "refundedQuantity",
  item.refunded_cents as "refundedCents"
from item_counters as counter ${eachItem} ${within(scope)}`.execute(db)
  return rows
}
