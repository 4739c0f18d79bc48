import type { StatusColumns } from '../statusCounts.ts'

/**
 * One row per (order bucket, day, area): orders by status in five minutes, for an order's own area only. `slot` is the
 * number of the bucket since 1970 (core's `orderBucketOf`). Finds a page of the order list without reading those
 * before.
 */
export type OrderBucketTable = StatusColumns & {
  event_id: string
  slot: number
  day_id: number
  area_id: number
}
