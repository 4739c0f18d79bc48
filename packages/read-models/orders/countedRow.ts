import { type OrderId, type OrderLine, toCents } from '@tally/contract'
import type { CountedOrder } from '@tally/core'
import { sql } from 'kysely'

/** The columns of an order that counting needs. */
export const countedColumns = sql`
order_id, version, status, day_id, area_id, ordered_at, total_cents, lines, refunded_cents, refunded_lines`

/** A row of those columns. Version 0: only refunds have arrived, and the order's own columns are null. */
export type CountedRow = {
  order_id: OrderId
  version: number
  status: CountedOrder['status']
  day_id: CountedOrder['dayId']
  area_id: CountedOrder['areaId']
  ordered_at: CountedOrder['orderDateTime']
  total_cents: CountedOrder['totalAmount']
  lines: string
  refunded_cents: number
  refunded_lines: string | null
}

/** The order that a row holds, money in cents; undefined while only refunds have arrived. */
export function countedOrder(row: CountedRow): CountedOrder | undefined {
  if (row.version === 0) return undefined
  const lines = JSON.parse(row.lines) as OrderLine[]
  return {
    version: row.version,
    status: row.status,
    dayId: row.day_id,
    areaId: row.area_id,
    orderDateTime: row.ordered_at,
    totalAmount: row.total_cents,
    items: lines.map(({ menuItemId, quantity, unitPrice }) => ({
      menuItemId,
      quantity,
      unitPrice: toCents(unitPrice),
    })),
  }
}
