import { sql } from 'kysely'

/** Menu items that share a row, by id: row `block` has items 16 × block up to 16 × block + 15. The SQL has the number too. */
export const itemsABlock = 16

/** The counters of one menu item over confirmed orders, before and apart from refunds. */
export const itemColumns = [
  'orders',
  'quantity',
  'gross_cents',
  'refunded_quantity',
  'refunded_cents',
] as const
type ItemColumn = (typeof itemColumns)[number]

/**
 * One row a (day, area, block of menu items), area 0 for all areas; each column has one number for each item. An order changes
 * a few rows of some hundred bytes, a batch of thousands of orders far fewer rows than with one an item, as ids of one menu
 * lie close together. Numbers are counted from 1, 0 for what nobody sold, never null.
 */
export type ItemTable = Record<ItemColumn, number[]> & {
  event_id: string
  day_id: number
  area_id: number
  block: number
}

/** Where the numbers of a block stand. */
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
 * To be joined to `item_counters as counter`: each menu item of a block with its numbers, as `item`; those that are all 0 are
 * left out.
 */
export const itemsOfBlock = sql`lateral (
  select counter.block * 16 + (place::integer - 1) as menu_item_id,
    orders, quantity, gross_cents, refunded_quantity, refunded_cents
  from unnest(
    counter.orders, counter.quantity, counter.gross_cents, counter.refunded_quantity, counter.refunded_cents
  ) with ordinality as one (orders, quantity, gross_cents, refunded_quantity, refunded_cents, place)
  where (orders, quantity, gross_cents, refunded_quantity, refunded_cents) <> (0, 0, 0, 0, 0)
) as item`
