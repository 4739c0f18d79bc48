/** One row a (day, area, hour of day in the event's time zone), confirmed orders only; area 0 for all areas. */
export type HourlyTable = {
  event_id: string
  day_id: number
  area_id: number
  hour: number
  orders: number
  sales_cents: number
}
