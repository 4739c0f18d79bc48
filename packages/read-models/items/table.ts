import { sql } from 'kysely'

/** Menu items per row: row `block` has ids 16 × block to 16 × block + 15. The SQL repeats the number. */
export const itemsPerBlock = 16

/** The counters of one menu item over confirmed orders, before and apart from refunds. */
export type ItemColumn = 'orders' | 'quantity' | 'gross_cents' | 'refunded_quantity' | 'refunded_cents'

/**
 * One row per (day, area, block of menu items), area 0 for all areas; each column has one number per item. A batch of
 * thousands of orders changes far fewer rows than with one row per item, because the ids of a menu are close together.
 * Array indexes start at 1; numbers are never null.
 */
export type ItemTable = Record<ItemColumn, number[]> & {
  event_id: string
  day_id: number
  area_id: number
  block: number
}

/** The array indexes of a block. */
export const places = [
  sql`1`,
  sql`2`,
  sql`3`,
  sql`4`,
  sql`5`,
  sql`6`,
  sql`7`,
  sql`8`,
  sql`9`,
  sql`10`,
  sql`11`,
  sql`12`,
  sql`13`,
  sql`14`,
  sql`15`,
  sql`16`,
]

/**
 * For a join with `item_counters as counter`: each menu item of a block with its numbers, as `item`; items with only
 * zeros are left out.
 */
export const itemsOfBlock = sql`lateral (
  select counter.block * 16 + (place::integer - 1) as menu_item_id,
    orders, quantity, gross_cents, refunded_quantity, refunded_cents
  from unnest(
    counter.orders, counter.quantity, counter.gross_cents, counter.refunded_quantity, counter.refunded_cents
  ) with ordinality as one (orders, quantity, gross_cents, refunded_quantity, refunded_cents, place)
  where (orders, quantity, gross_cents, refunded_quantity, refunded_cents) <> (0, 0, 0, 0, 0)
) as item`
