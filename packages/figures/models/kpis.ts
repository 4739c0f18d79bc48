import { type EventDay, type KpisAnswer, type TrendPoint, toCents, toEuros } from '@tally/contract'
import { byStatus, counter } from '../counting/counter.ts'

/** Orders by status; sales and items of the confirmed ones. */
export const daily = counter({
  table: 'daily_counters',
  key: { day_id: 'int', area_id: 'int' },
  amounts: { ...byStatus('bigint'), salesCents: 'bigint', itemsSold: 'bigint' },
  count(rows, facts, sign) {
    const day = rows.only()
    day[facts.status] += sign
    if (!facts.confirmed) return
    day.salesCents += sign * facts.salesCents
    day.itemsSold += sign * facts.itemsSold
  },
})

/**
 * Orders by status in each five minutes (`orderBucketOf`), for an order's own area only: finds a page of the order list
 * without reading those before.
 */
export const orderBuckets = counter({
  table: 'order_buckets',
  key: { order_bucket: 'int', day_id: 'int', area_id: 'int' },
  amounts: byStatus('int'),
  count(rows, facts, sign) {
    rows.at(facts.orderBucket)[facts.status] += sign
  },
})

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
  return salesCents < 0 ? 0 - rounded : rounded
}

/**
 * The days whose sales a trend over the last `dates` dates reads: days of the event grouped by date, not calendar
 * days (docs/records.md, Counting). Ascending by date.
 */
export function trendDays<Day extends Pick<EventDay, 'date'>>(
  days: Day[],
  dates: number,
): { date: string; days: Day[] }[] {
  const byDate = Map.groupBy(days, ({ date }) => date)
  return [...byDate]
    .map(([date, days]) => ({ date, days }))
    .sort((one, other) => (one.date < other.date ? -1 : 1))
    .slice(-dates)
}

/** One point of the trend: the KPIs of all days of one date, added up. A date without orders has 0. */
export function composeTrendPoint(date: string, kpis: KpisAnswer[]): TrendPoint {
  return {
    date,
    totalSales: toEuros(kpis.reduce((sum, { totalSales }) => sum + toCents(totalSales), 0)),
    orderCount: kpis.reduce((sum, { totalOrders }) => sum + totalOrders, 0),
    currency: 'EUR',
  }
}
