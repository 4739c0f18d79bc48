/**
 * One row per (day, area, UTC time bucket), confirmed orders only; area 0 for all areas. `bucket` is the start of the
 * bucket in epoch milliseconds (core's `bucketStart`); the local hour is derived from it when a document is composed.
 */
export type HourlyTable = {
  event_id: string
  day_id: number
  area_id: number
  bucket: number
  orders: number
  sales_cents: number
}
