import type { OrderStatus } from '@tally/contract'

/**
 * One row per order at its winning version, with the sums of its refunds. `version` 0: only refunds have arrived, and
 * the order's own columns are null. `lines` is the JSON that the API answers as `items`; `refunded_lines` is
 * `RefundSums['lines']`. Instants are epoch milliseconds, because this table is written most.
 */
export type OrderTable = {
  event_id: string
  order_id: string
  version: number
  status: OrderStatus | null
  day_id: number | null
  area_id: number | null
  ordered_at: number | null
  display_number: string | null
  payment_method: string | null
  paid_cents: number | null
  total_cents: number | null
  takeaway: boolean | null
  table_number: string | null
  lines: string | null
  refunded_cents: number
  refunded_lines: string | null
}
