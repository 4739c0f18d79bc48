import { type Event, type ItemCount, type TopItem, toEuros } from '@tally/contract'
import { counter, type RowsIn } from '../counting/counter.ts'

/** Menu items per row: row `block` has ids 16 × block to 16 × block + 15. */
export const itemsPerBlock = 16

/** Confirmed orders by menu item, before refunds and apart from them; the ids of a menu are close together. */
export const items = counter({
  table: 'item_counters',
  key: { day_id: 'int', area_id: 'int', item: 'int' },
  amounts: {
    orders: 'bigint',
    quantity: 'bigint',
    grossCents: 'bigint',
    refundedQuantity: 'bigint',
    refundedCents: 'bigint',
  },
  blocks: { size: itemsPerBlock, seldom: ['refundedQuantity', 'refundedCents'] },
  count(rows, facts, sign) {
    for (const { menuItemId, quantity, grossCents, refundedQuantity, refundedCents } of facts.items) {
      const item = rows.at(menuItemId)
      item.orders += sign
      item.quantity += sign * quantity
      item.grossCents += sign * grossCents
      item.refundedQuantity += sign * refundedQuantity
      item.refundedCents += sign * refundedCents
    }
  },
})

/** The figures of one menu item: a tuple, because the documents of a large menu consist of little else. */
export type ItemFigures = [
  menuItemId: number,
  quantity: number,
  revenue: number,
  refundedQuantity: number,
  refundedRevenue: number,
]

/** The items document of one (day, area): numbers only, by menu item id; names come from the event. */
export type ItemsDocument = ItemFigures[]

/** Items that at least one confirmed order has, net of refunds (docs/records.md, Counting). */
export function composeItems(rows: RowsIn<typeof items>): ItemsDocument {
  return [...rows]
    .filter(([, { orders }]) => orders > 0)
    .sort(([one], [other]) => one - other)
    .map(([menuItemId, { quantity, grossCents, refundedQuantity, refundedCents }]) => [
      menuItemId,
      quantity - refundedQuantity,
      toEuros(grossCents - refundedCents),
      refundedQuantity,
      toEuros(refundedCents),
    ])
}

export type Menu = Pick<Event, 'menuItems'>

/** quantity descending, revenue descending, menuItemId ascending; the first `limit` (docs/api.md, Answers). */
export function topItems(items: ItemsDocument, menu: Menu, limit: number): TopItem[] {
  const nameOf = menuNames(menu)
  return items
    .toSorted(
      ([oneId, oneQuantity, oneRevenue], [otherId, otherQuantity, otherRevenue]) =>
        otherQuantity - oneQuantity || otherRevenue - oneRevenue || oneId - otherId,
    )
    .slice(0, limit)
    .map(([menuItemId, quantity, revenue, refundedQuantity, refundedRevenue]) => ({
      menuItemId,
      ...nameOf(menuItemId),
      quantity,
      revenue,
      refundedQuantity,
      refundedRevenue,
      currency: 'EUR',
    }))
}

/** By menuItemId; with `asked`, one row per requested id, 0 if nothing was sold (docs/api.md, Answers). */
export function itemCounts(items: ItemsDocument, menu: Menu, asked: number[] | undefined): ItemCount[] {
  const nameOf = menuNames(menu)
  const countOf = ([menuItemId, quantitySold, , quantityRefunded]: ItemFigures): ItemCount => ({
    menuItemId,
    itemName: nameOf(menuItemId).itemName,
    quantitySold,
    quantityRefunded,
  })
  if (asked === undefined) return items.map(countOf)
  const sold = new Map(items.map(figures => [figures[0], figures]))
  return asked
    .toSorted((one, other) => one - other)
    .map(menuItemId => countOf(sold.get(menuItemId) ?? [menuItemId, 0, 0, 0, 0]))
}

/** Names are those of the event's latest version; one it does not list is `Item <id>` (docs/records.md, Counting). */
function menuNames({ menuItems }: Menu): (menuItemId: number) => { itemName: string; categoryName: string } {
  const listed = new Map<number, Menu['menuItems'][number]>()
  for (const item of menuItems) listed.set(item.menuItemId, item)
  return menuItemId => {
    const { name, categoryName } = listed.get(menuItemId) ?? { name: `Item ${menuItemId}`, categoryName: '' }
    return { itemName: name, categoryName }
  }
}
