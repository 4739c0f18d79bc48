/** Every refund as it was applied: what makes a repeat a repeat, and what a rebuild counts again. */
export type RefundTable = {
  event_id: string
  refund_id: string
  order_id: string
  refunded_at: number
  amount_cents: number
  lines: string
}
