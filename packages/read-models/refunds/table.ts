/** Every applied refund: detects repeats, and is what a rebuild counts again. */
export type RefundTable = {
  event_id: string
  refund_id: string
  order_id: string
  refunded_at: number
  amount_cents: number
  lines: string
}
