import { type EventId, type OrderId, type OrderLine, toCents } from '@tally/contract'
import type { CountedOrder } from '@tally/core'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../postgres/database.ts'

/**
 * A kept order as it stands in the table. `order` is undefined while only refunds have come; `refundedLines` is
 * the stored JSON; `written` changes whenever the row is written.
 */
export type ScannedOrder = {
  orderId: OrderId
  order: CountedOrder | undefined
  refundedCents: number
  refundedLines: string | null
  written: string
}

const ordersAPage = 2_000

/** All orders of an event by id in byte order, a page at a time, so that memory does not grow with the event. */
export async function* scanOrders(
  snapshot: Kysely<Database>,
  eventId: EventId,
): AsyncGenerator<ScannedOrder, undefined> {
  for (let last = ''; ; ) {
    const { rows } = await sql<OrderRow>`
select ${columns} from orders
where event_id = ${eventId} and order_id > ${last}
order by order_id
limit ${ordersAPage}`.execute(snapshot)
    for (const row of rows) yield fromRow(row)
    const end = rows.at(-1)
    if (end === undefined || rows.length < ordersAPage) return
    last = end.order_id
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

const columns = sql`
order_id, version, status, day_id, area_id, ordered_at, total_cents, lines, refunded_cents, refunded_lines, xmin::text as written`

type OrderRow = {
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
  written: string
}

function fromRow(row: OrderRow): ScannedOrder {
  return {
    orderId: row.order_id,
    order: row.version === 0 ? undefined : orderOf(row),
    refundedCents: row.refunded_cents,
    refundedLines: row.refunded_lines,
    written: row.written,
  }
}

function orderOf(row: OrderRow): CountedOrder {
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
