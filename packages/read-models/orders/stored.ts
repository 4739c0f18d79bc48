import { type EventId, type Order, type OrderId, type OrderLine, toCents } from '@tally/contract'
import { getOrInsertComputed } from '@tally/core'
import type { Tx } from '@tally/storage'
import { sql } from 'kysely'
import { readWithin, withinBound } from '../withinBound.ts'
import { type AskedOrders, storedOf } from './known.ts'

type StoredRow = Omit<Order, 'items'> & { lines: string | null }

const columns = sql`
order_id, version, status, day_id, area_id, ordered_at, display_number, payment_method, paid_cents, total_cents,
takeaway, table_number, lines`

/**
 * These orders (the keys of each event's map) as their applied records say, money in cents. Only for records that
 * repeat a version: what is applied is compared with them. Throws a TooMuchStoredError (withinBound.ts).
 */
export async function readStoredOrders(
  tx: Tx,
  asked: AskedOrders,
): Promise<Map<EventId, Map<OrderId, Order>>> {
  const { rows } = await sql<StoredRow>`
select asked.event_id as "eventId", stored.order_id as "orderId", version, display_number as "displayOrderNumber",
  status, area_id as "areaId", day_id as "dayId", ordered_at as "orderDateTime", payment_method as "paymentMethod",
  paid_cents as "amountPaid", total_cents as "totalAmount", takeaway as "isTakeaway", table_number as "tableNumber",
  ${withinBound(sql`lines::text`)} as lines
from ${storedOf(asked, columns)}
where version > 0`.execute(tx)
  const orders = new Map<EventId, Map<OrderId, Order>>()
  for (const { lines, ...order } of rows) {
    const items = (JSON.parse(readWithin(lines)) as OrderLine[]).map(line => ({
      ...line,
      unitPrice: toCents(line.unitPrice),
    }))
    getOrInsertComputed(orders, order.eventId, () => new Map()).set(order.orderId, { ...order, items })
  }
  return orders
}
