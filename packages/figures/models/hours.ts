import { type EpochMs, type HourBucket, toEuros } from '@tally/contract'
import { counter, type RowsIn } from '../counting/counter.ts'
import { getOrInsertComputed } from '../counting/facts.ts'
import type { HourOf } from '../time.ts'

/** Confirmed orders by UTC time bucket (`bucketStart`); the local hour is derived when a document is composed. */
export const hourly = counter({
  table: 'hourly_counters',
  key: { day_id: 'int', area_id: 'int', bucket: 'time' },
  amounts: { orders: 'bigint', salesCents: 'bigint' },
  count(rows, facts, sign) {
    if (!facts.confirmed) return
    const bucket = rows.at(facts.bucket)
    bucket.orders += sign
    bucket.salesCents += sign * facts.salesCents
  },
})

/**
 * The by-hour document in the form of the API: only hours with an order, ascending (docs/records.md, Counting).
 * `hourOf` uses the event's current time zone (UTC while the event is unknown).
 */
export function composeHours(buckets: RowsIn<typeof hourly>, hourOf: HourOf): HourBucket[] {
  const hours = new Map<number, { orders: number; salesCents: number }>()
  for (const [bucket, { orders, salesCents }] of buckets) {
    const hour = getOrInsertComputed(hours, hourOf(bucket as EpochMs), () => ({ orders: 0, salesCents: 0 }))
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
