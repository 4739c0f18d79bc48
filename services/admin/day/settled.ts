import { type EventDay, type KpisAnswer, type TopItem, toCents, toEuros } from '@tally/contract'
import {
  byTakings,
  type ItemFigures,
  type ItemsDocument,
  type PaymentFigures,
  type StoredEvent,
} from '@tally/figures'
import type { DayLabel } from '../views/dayLabels.ts'

/** In euros: `total` less `refunded` are the `takings`. */
export type Amounts = { total: number; refunded: number; takings: number }

/** The takings of one payment method or of all. */
export type Takings = Amounts & { orders: number; refundedOrders: number }

/** What an hour of a day took, or a day of a festival. */
export type Period = {
  /** `21:00`, or the name of the day. */
  name: string
  /** Of a day. */
  label?: DayLabel
  orders: number
  takings: number
}

/**
 * What an organizer settles a day by, or all days of a festival. Kpis, hours and items are those of the API
 * (docs/records.md, Counting), of several days their sums.
 */
export type Settled = {
  event: StoredEvent
  /** Undefined for all days. */
  day: EventDay | undefined
  /** Up to when everything is counted, in epoch milliseconds. */
  asOfMs: number | null
  kpis: Pick<KpisAnswer, 'totalOrders' | 'totalItemsSold' | 'totalSales'>
  all: Takings
  payments: (Takings & { paymentMethod: string })[]
  /** The hours of a day as its evening ran (eveningOf), or the days by date. */
  periods: Period[]
  /** Most sold first. */
  sold: TopItem[]
  /** Most money given back first (partReturned). */
  returned: TopItem[]
  items: SettledItem
  /** Of days that the event does not list: in no sum. Undefined for one day of several, and if there are none. */
  unlisted: { orders: number; takings: number } | undefined
}

type SettledItem = Amounts & { quantity: number; refundedQuantity: number }

/** Sums in whole cents: euros are binary fractions. */
export const sumOf = (euros: number[]): number => toEuros(euros.reduce((sum, one) => sum + toCents(one), 0))

/** The items of several days, as one day has them. */
export function sumOfItems(days: ItemsDocument[]): ItemsDocument {
  const byItem = Map.groupBy(days.flat(), ([menuItemId]) => menuItemId)
  return [...byItem].map(([menuItemId, figures]): ItemFigures => {
    const column = (place: number) => figures.map(row => row[place] ?? 0)
    const counted = (place: number) => column(place).reduce((sum, one) => sum + one, 0)
    return [menuItemId, counted(1), sumOf(column(2)), counted(3), sumOf(column(4))]
  })
}

/** The payment methods of several days, as one day has them. */
export function sumOfPayments(days: PaymentFigures[][]): Settled['payments'] {
  const byMethod = Map.groupBy(days.flat(), ({ paymentMethod }) => paymentMethod)
  return [...byMethod]
    .map(([paymentMethod, figures]) => ({ paymentMethod, ...takingsOf(figures) }))
    .sort(byTakings)
}

export function takingsOf(payments: Omit<PaymentFigures, 'paymentMethod'>[]): Takings {
  const [total, takings] = [sumOf(payments.map(one => one.total)), sumOf(payments.map(one => one.takings))]
  return {
    orders: payments.reduce((sum, { orders }) => sum + orders, 0),
    refundedOrders: payments.reduce((sum, { refundedOrders }) => sum + refundedOrders, 0),
    total,
    refunded: sumOf([total, -takings]),
    takings,
  }
}

export const sumOfKpis = (days: KpisAnswer[]): Settled['kpis'] => ({
  totalOrders: days.reduce((sum, { totalOrders }) => sum + totalOrders, 0),
  totalItemsSold: days.reduce((sum, { totalItemsSold }) => sum + totalItemsSold, 0),
  totalSales: sumOf(days.map(({ totalSales }) => totalSales)),
})

export const itemSums = (items: TopItem[]): SettledItem => ({
  quantity: items.reduce((sum, { quantity }) => sum + quantity, 0),
  refundedQuantity: items.reduce((sum, { refundedQuantity }) => sum + refundedQuantity, 0),
  total: sumOf(items.flatMap(({ revenue, refundedRevenue }) => [revenue, refundedRevenue])),
  refunded: sumOf(items.map(({ refundedRevenue }) => refundedRevenue)),
  takings: sumOf(items.map(({ revenue }) => revenue)),
})

export const periodSums = (periods: Settled['periods']) => ({
  orders: periods.reduce((sum, { orders }) => sum + orders, 0),
  takings: sumOf(periods.map(({ takings }) => takings)),
})

/** A line of what lies between the items and the takings. */
type Step = Amounts & { name: string; why: string }

/**
 * What closes the items to the takings: their sum and these lines are the takings, in each column. A record has the
 * total of an order and its lines, and nothing between them: a discount and a cover charge of one order are one
 * difference.
 */
export function closingOf({ all, items }: Pick<Settled, 'all' | 'items'>): Step[] {
  const charged = sumOf([all.total, -items.total])
  const refunded = sumOf([all.refunded, -items.refunded])
  return [
    {
      name: 'Discounts and cover charges',
      why: 'totals of the orders, less the prices of their items',
      total: charged,
      refunded: 0,
      takings: charged,
    },
    {
      name: 'Refunds of money only',
      why: 'given back for no item, less fees that were kept',
      total: 0,
      refunded,
      takings: sumOf([-refunded]),
    },
  ]
}
