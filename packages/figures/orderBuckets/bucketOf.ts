import type { EpochMs } from '@tally/contract'

/** The length of an order bucket: few orders of one event share a bucket, even at its peak. */
export const orderBucketMs = 5 * 60_000

/**
 * The time bucket by which the order list finds its pages (table `order_slots`): whole buckets since 1970, the same in
 * every time zone; below 2^31 up to the year 9999.
 */
export function orderBucketOf(at: EpochMs): number {
  return Math.floor(at / orderBucketMs)
}
