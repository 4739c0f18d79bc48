import type { EventId, OrderId } from '@tally/contract'
import type { Database } from '@tally/platform'
import { type Kysely, sql } from 'kysely'
import type { CountedOrder } from '../counting/facts.ts'
import { type CountedRow, countedColumns, countedOrder } from './known.ts'

/**
 * An order as stored. `order` is undefined while only refunds have arrived; `refundedLines` is the stored JSON;
 * `written` changes whenever the row is written.
 */
export type ScannedOrder = {
  orderId: OrderId
  order: CountedOrder | undefined
  refundedCents: number
  refundedLines: string | null
  written: string
}

const pageSize = 2_000

/** All orders of an event by id in byte order, a page at a time, so that memory does not grow with the event. */
export async function* scanOrders(
  snapshot: Kysely<Database>,
  eventId: EventId,
): AsyncGenerator<ScannedOrder, undefined> {
  for (let last: string | undefined = ''; last !== undefined; ) {
    const { rows } = await sql<CountedRow & { written: string }>`
select ${countedColumns}, xmin::text as written
from orders
where event_id = ${eventId} and order_id > ${last}
order by order_id
limit ${pageSize}`.execute(snapshot)
    for (const row of rows)
      yield {
        orderId: row.order_id,
        order: countedOrder(row, JSON.parse(row.lines)),
        refundedCents: row.refunded_cents,
        refundedLines: row.refunded_lines,
        written: row.written,
      }
    last = rows[pageSize - 1]?.order_id
  }
}

/** When these orders were last written, by id; an order that has no row is absent. */
export async function readWritten(
  db: Kysely<Database>,
  eventId: EventId,
  orderIds: OrderId[],
): Promise<Map<OrderId, string>> {
  const { rows } = await sql<{ order_id: OrderId; written: string }>`
select order_id, xmin::text as written
from orders
where event_id = ${eventId} and order_id = any(${orderIds}::text[])`.execute(db)
  return new Map(rows.map(({ order_id, written }) => [order_id, written]))
}
