/**
 * One row a (day, area), area 0 for all areas: orders by status, and sales and items of the confirmed ones.
 */
export type DailyTable = {
  event_id: string
  day_id: number
  area_id: number
  pre_order: number
  pending: number
  paid: number
  preparing: number
  ready_for_pickup: number
  completed: number
  cancelled: number
  sales_cents: number
  items_sold: number
}
