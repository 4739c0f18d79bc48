import type { StatusColumns } from '../statusCounts.ts'

/**
 * One row a (slot, day, area): orders by status of the five minutes that `slot` counts since 1970, an order's own area
 * only. What finds the place of a page in the list of orders without reading the pages before it.
 */
export type OrderBucketTable = StatusColumns & {
  event_id: string
  slot: number
  day_id: number
  area_id: number
}
