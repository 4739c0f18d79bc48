import type { StatusColumns } from '../statusCounts.ts'

/**
 * One row per (day, area), area 0 for all areas: orders by status, and sales and items of the confirmed ones.
 */
export type DailyTable = StatusColumns & {
  event_id: string
  day_id: number
  area_id: number
  sales_cents: number
  items_sold: number
}
