import type { ItemTotals } from '@tally/core'
import type { Database } from '@tally/storage'
import { type Kysely, sql } from 'kysely'
import { type AreaRow, type CounterScope, inScope } from '../counterScope.ts'
import { itemsOfBlock } from './table.ts'

export type ItemRow = AreaRow & ItemTotals

/**
 * The item totals of a scope. A block whose counters are all 0 becomes one row of item 0 without orders, so that its
 * (day, area) gets an empty document instead of none.
 */
export async function readItems(db: Kysely<Database>, scope: CounterScope): Promise<ItemRow[]> {
  const { rows } = await sql<ItemRow>`
select event_id, day_id, area_id,
  coalesce(item.menu_item_id, 0) as "menuItemId",
  coalesce(item.orders, 0) as orders,
  coalesce(item.quantity, 0) as quantity,
  coalesce(item.gross_cents, 0) as "grossCents",
  coalesce(item.refunded_quantity, 0) as "refundedQuantity",
  coalesce(item.refunded_cents, 0) as "refundedCents"
from item_counters as counter left join ${itemsOfBlock} on true ${inScope(scope)}`.execute(db)
  return rows
}
