import { type EpochMs, type HourBucket, toEuros } from '@tally/contract'
import { getOrInsertComputed } from '../getOrInsertComputed.ts'
import type { HourOf } from '../hours.ts'

/** The counter of one (day, area, time bucket); money in cents. */
export type BucketTotals = { bucket: EpochMs; orders: number; salesCents: number }

/**
 * The by-hour document in the form of the API: only hours with an order, ascending (docs/records.md, Counting).
 * `hourOf` uses the event's current time zone (UTC while the event is unknown).
 */
export function composeHours(totals: BucketTotals[], hourOf: HourOf): HourBucket[] {
  const hours = new Map<number, { orders: number; salesCents: number }>()
  for (const { bucket, orders, salesCents } of totals) {
    const hour = getOrInsertComputed(hours, hourOf(bucket), () => ({ orders: 0, salesCents: 0 }))
    hour.orders += orders
    hour.salesCents += salesCents
  }
  return [...hours]
    .filter(([, { orders }]) => orders > 0)
    .sort(([one], [other]) => one - other)
    .map(([hour, { orders, salesCents }]) => ({
      hour,
      orderCount: orders,
      revenue: toEuros(salesCents),
      currency: 'EUR',
    }))
}
