import { type KpisAnswer, toEuros } from '@tally/contract'

/** Of confirmed orders only; money in cents. */
export type DailyTotals = { orders: number; salesCents: number; itemsSold: number }

/** The KPI document in the form of the API (docs/api.md, Fields). */
export function composeKpis({ orders, salesCents, itemsSold }: DailyTotals): KpisAnswer {
  return {
    totalOrders: orders,
    totalSales: toEuros(salesCents),
    currency: 'EUR',
    averageOrderValue: toEuros(averageCents(salesCents, orders)),
    totalItemsSold: itemsSold,
  }
}

export const noSales: KpisAnswer = composeKpis({ orders: 0, salesCents: 0, itemsSold: 0 })

/** Rounded to the cent, halves away from zero, in integers; 0 without orders, never -0 (docs/records.md, Counting). */
function averageCents(salesCents: number, orders: number): number {
  if (orders === 0) return 0
  const unsigned = Math.abs(salesCents)
  const remainder = unsigned % orders
  const rounded = (unsigned - remainder) / orders + (2 * remainder >= orders ? 1 : 0)
  return salesCents < 0 && rounded !== 0 ? -rounded : rounded
}
