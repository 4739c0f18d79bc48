import type { Event, ItemCount, TopItem } from '@tally/contract'
import { toEuros } from '@tally/contract'

/** The item counter of one (day, area, menu item) over confirmed orders; money in cents. */
export type ItemTotals = {
  menuItemId: number
  orders: number
  quantity: number
  grossCents: number
  refundedQuantity: number
  refundedCents: number
}

/** The items document of one (day, area): numbers only, by menu item id; names come from the event. */
export type ItemsDocument = {
  menuItemId: number
  quantity: number
  revenue: number
  refundedQuantity: number
  refundedRevenue: number
}[]

/** Items that at least one confirmed order has, net of refunds (docs/records.md, Counting). */
export function composeItems(totals: ItemTotals[]): ItemsDocument {
  return totals
    .filter(({ orders }) => orders > 0)
    .sort((one, other) => one.menuItemId - other.menuItemId)
    .map(({ menuItemId, quantity, grossCents, refundedQuantity, refundedCents }) => ({
      menuItemId,
      quantity: quantity - refundedQuantity,
      revenue: toEuros(grossCents - refundedCents),
      refundedQuantity,
      refundedRevenue: toEuros(refundedCents),
    }))
}

export type Menu = Pick<Event, 'menuItems'>

/** quantity descending, revenue descending, menuItemId ascending; the first `limit` (docs/api.md, Answers). */
export function topItems(items: ItemsDocument, menu: Menu, limit: number): TopItem[] {
  const nameOf = menuNames(menu)
  return items
    .toSorted(
      (one, other) =>
        other.quantity - one.quantity || other.revenue - one.revenue || one.menuItemId - other.menuItemId,
    )
    .slice(0, limit)
    .map(({ menuItemId, quantity, revenue, refundedQuantity, refundedRevenue }) => ({
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
  const sold = new Map(items.map(item => [item.menuItemId, item]))
  const ids = asked === undefined ? [...sold.keys()] : asked.toSorted((one, other) => one - other)
  return ids.map(menuItemId => ({
    menuItemId,
    itemName: nameOf(menuItemId).itemName,
    quantitySold: sold.get(menuItemId)?.quantity ?? 0,
    quantityRefunded: sold.get(menuItemId)?.refundedQuantity ?? 0,
  }))
}

/**
 * Names are those of the event's latest version; an item it does not list is `Item <id>` (docs/records.md, Counting).
 */
function menuNames({ menuItems }: Menu): (menuItemId: number) => { itemName: string; categoryName: string } {
  const names = new Map<number, { itemName: string; categoryName: string }>(
    menuItems.map(({ menuItemId, name, categoryName }) => [menuItemId, { itemName: name, categoryName }]),
  )
  return menuItemId => names.get(menuItemId) ?? { itemName: `Item ${menuItemId}`, categoryName: '' }
}
