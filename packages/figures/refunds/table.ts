import type { ColumnType } from 'kysely'

declare module '@tally/platform/database' {
  interface Database {
    refunds: RefundTable
  }
}

/** Every refund at its winning version: detects repeats, and is what a rebuild counts again. */
export type RefundTable = {
  event_id: string
  refund_id: string
  version: ColumnType<number, number | undefined, number>
  order_id: string
  refunded_at: number
  amount_cents: number
  lines: string
}
