import { type EventDay, type KpisAnswer, type TrendPoint, toCents, toEuros } from '@tally/contract'

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
