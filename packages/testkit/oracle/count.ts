import moment from 'moment-timezone'
import type { figures } from './figures.ts'
import { type Any, at, compare, sum, unique } from './words.ts'

type Figures = ReturnType<typeof figures>
type Menu = Map<number, Any>

const centsOf = (list: Figures[]) => sum(list.map(({ effective }) => effective))
const nameOf = (menu: Menu, id: number) => menu.get(id)?.name ?? `Item ${id}`

export function kpisOf(list: Figures[]) {
  const cents = centsOf(list)
  return {
    totalOrders: list.length,
    totalSales: cents / 100,
    currency: 'EUR',
    averageOrderValue: averageOf(cents, list.length),
    totalItemsSold: sum(list.flatMap(({ items }) => items.map(({ quantity }) => quantity))),
  }
}

/** To the cent, halves away from zero. */
function averageOf(cents: number, orders: number): number {
  if (orders === 0) return 0
  const unsigned = Math.floor((2 * Math.abs(cents) + orders) / (2 * orders)) / 100
  return cents < 0 && unsigned > 0 ? -unsigned : unsigned
}

export const totalsOf = (list: Figures[]) => ({
  totalSales: centsOf(list) / 100,
  orderCount: list.length,
  currency: 'EUR',
})

/** A row for each hour of the day in the event's time zone; the product reads the same data without moment. */
export function ordersByHour(list: Figures[], timeZone: string) {
  const hours = Map.groupBy(list, ({ order }) => moment.tz(at(order.orderDateTime), timeZone).hour())
  return [...hours]
    .sort(([a], [b]) => a - b)
    .map(([hour, own]) => ({ hour, orderCount: own.length, revenue: centsOf(own) / 100, currency: 'EUR' }))
}

/** A row for each payment method, the most takings first. */
export function paymentsOf(list: Figures[]) {
  const cents = (order: Any) => Math.round(order.totalAmount * 100)
  return unique<string>(list.map(({ order }) => order.paymentMethod))
    .map(paymentMethod => {
      const own = list.filter(({ order }) => order.paymentMethod === paymentMethod)
      return {
        paymentMethod,
        orders: own.length,
        refundedOrders: own.filter(({ order, effective }) => effective < cents(order)).length,
        total: sum(own.map(({ order }) => cents(order))) / 100,
        takings: centsOf(own) / 100,
      }
    })
    .sort((a, b) => b.takings - a.takings || compare(a.paymentMethod, b.paymentMethod))
}

/** A row for each item that was sold, by id. */
export function itemsOf(list: Figures[], menu: Menu) {
  const lines = list.flatMap(({ items }) => items)
  return [...Map.groupBy(lines, ({ menuItemId }) => menuItemId)]
    .sort(([a], [b]) => a - b)
    .map(([menuItemId, own]) => {
      const total = (name: 'quantity' | 'revenue' | 'refundedQuantity' | 'refundedRevenue') =>
        sum(own.map(line => line[name]))
      return {
        menuItemId,
        itemName: nameOf(menu, menuItemId),
        categoryName: menu.get(menuItemId)?.categoryName ?? '',
        quantity: total('quantity'),
        revenue: total('revenue') / 100,
        refundedQuantity: total('refundedQuantity'),
        refundedRevenue: total('refundedRevenue') / 100,
        currency: 'EUR',
      }
    })
}

/** A row for each item that was sold or, if ids are asked for, for each of these. */
export function itemCountsOf(list: Figures[], menu: Menu, asked?: number[]) {
  const sold = itemsOf(list, menu).map(({ menuItemId, itemName, quantity, refundedQuantity }) => ({
    menuItemId,
    itemName,
    quantitySold: quantity,
    quantityRefunded: refundedQuantity,
  }))
  if (asked === undefined) return sold
  const empty = { quantitySold: 0, quantityRefunded: 0 }
  return unique(asked)
    .sort((a, b) => a - b)
    .map(
      menuItemId =>
        sold.find(row => row.menuItemId === menuItemId) ?? {
          menuItemId,
          itemName: nameOf(menu, menuItemId),
          ...empty,
        },
    )
}
