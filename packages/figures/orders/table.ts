import type { OwnColumns } from './columns.ts'

declare module '@tally/platform/database' {
  interface Database {
    orders: OrderTable
  }
}

type Key = 'event_id' | 'order_id' | 'version'

/**
 * One row per order at its winning version, with the sums of its refunds. `version` 0: only refunds have arrived, and
 * the order's own columns are null. `lines` is the JSON that the API answers as `items`; `refunded_lines` is
 * `RefundSums['lines']`. Instants are epoch milliseconds, because this table is written most.
 */
export type OrderTable = Pick<OwnColumns, Key> & {
  [Column in Exclude<keyof OwnColumns, Key>]: OwnColumns[Column] | null
} & { refunded_cents: number; refunded_lines: string | null }
