import { type HourBucket, toEuros } from '@tally/contract'

/** The hourly counter of one (day, area, hour); money in cents. */
export type HourTotals = { hour: number; orders: number; salesCents: number }

/** The by-hour document, as it goes out: only hours with an order, ascending (messages.md section 4). */
export function composeHours(totals: HourTotals[]): HourBucket[] {
  return totals
    .filter(({ orders }) => orders > 0)
    .sort((one, other) => one.hour - other.hour)
    .map(({ hour, orders, salesCents }) => ({
      hour,
      orderCount: orders,
      revenue: toEuros(salesCents),
      currency: 'EUR',
    }))
}
