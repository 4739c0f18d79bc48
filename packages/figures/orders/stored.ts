import { type EventId, type Order, type OrderId, type OrderLine, toCents } from '@tally/contract'
import type { Tx } from '@tally/platform'
import { sql } from 'kysely'
import { getOrInsertComputed } from '../counting/getOrInsertComputed.ts'
import { statement } from '../tables/statement.ts'
import { readWithin, withinBound } from '../tables/withinBound.ts'
import { columnsBut, fieldsBut } from './columns.ts'
import { type AskedOrders, storedOf } from './known.ts'

type StoredRow = Omit<Order, 'items'> & { lines: string | null }

const columns = statement(columnsBut('event_id'))()
const fields = statement(fieldsBut('event_id', 'order_id', 'lines'))()

/**
 * These orders (the keys of each event's map) as their applied records say, money in cents. Only for records that
 * repeat a version: what is applied is compared with them. Throws a TooMuchStoredError (withinBound.ts).
 */
export async function readStoredOrders(
  tx: Tx,
  asked: AskedOrders,
): Promise<Map<EventId, Map<OrderId, Order>>> {
  const { rows } = await sql<StoredRow>`
select asked.event_id as "eventId", stored.order_id as "orderId",
  ${fields},
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
