import { type OrderId, type OrderLine, toCents } from '@tally/contract'
import { sql } from 'kysely'
import type { CountedOrder } from '../counting/facts.ts'

/** The columns of an order that counting needs. */
export const countedColumns = sql`
order_id, version, status, day_id, area_id, ordered_at, payment_method, total_cents, lines, refunded_cents, refunded_lines`

/** The order's own columns. Version 0: only refunds have arrived, and the others are null. */
export type CountedColumns = {
  version: number
  status: CountedOrder['status']
  day_id: CountedOrder['dayId']
  area_id: CountedOrder['areaId']
  ordered_at: CountedOrder['orderDateTime']
  payment_method: CountedOrder['paymentMethod']
  total_cents: CountedOrder['totalAmount']
}

/** A row of `countedColumns`. */
export type CountedRow = CountedColumns & {
  order_id: OrderId
  lines: string
  refunded_cents: number
  refunded_lines: string | null
}

/** The order of a row and its stored lines, money in cents; undefined while only refunds have arrived. */
export function countedOrder(row: CountedColumns, lines: OrderLine[]): CountedOrder | undefined {
  if (row.version === 0) return undefined
  return {
    version: row.version,
    status: row.status,
    dayId: row.day_id,
    areaId: row.area_id,
    orderDateTime: row.ordered_at,
    paymentMethod: row.payment_method,
    totalAmount: row.total_cents,
    items: lines.map(({ menuItemId, quantity, unitPrice }) => ({
      menuItemId,
      quantity,
      unitPrice: toCents(unitPrice),
    })),
  }
}
