import { type EventId, type Order, type OrderId, type OrderLine, toEuros } from '@tally/contract'
import type { RefundSums } from '@tally/core'
import { sql } from 'kysely'
import type { Tx } from '../postgres/database.ts'

/** Stores orders at their winning version; at most one of each. The sums of their refunds stay as they are. */
export async function storeOrders(tx: Tx, orders: Order[]): Promise<void> {
  const column = <Value>(pick: (order: Order) => Value) => orders.map(pick)
  await sql`
insert into orders (
  event_id, order_id, version, status, day_id, area_id, ordered_at,
  display_number, payment_method, paid_cents, total_cents, takeaway, table_number, lines
)
select * from unnest(
  ${column(({ eventId }) => eventId)}::uuid[],
  ${column(({ orderId }) => orderId)}::text[],
  ${column(({ version }) => version)}::bigint[],
  ${column(({ status }) => status)}::order_status[],
  ${column(({ dayId }) => dayId)}::int[],
  ${column(({ areaId }) => areaId)}::int[],
  ${column(({ orderDateTime }) => orderDateTime)}::bigint[],
  ${column(({ displayOrderNumber }) => displayOrderNumber)}::text[],
  ${column(({ paymentMethod }) => paymentMethod)}::text[],
  ${column(({ amountPaid }) => amountPaid)}::bigint[],
  ${column(({ totalAmount }) => totalAmount)}::bigint[],
  ${column(({ isTakeaway }) => isTakeaway)}::boolean[],
  ${column(({ tableNumber }) => tableNumber)}::text[],
  ${column(({ items }) => linesAsAnswered(items))}::json[]
)
on conflict (event_id, order_id) do update set
  version = excluded.version,
  status = excluded.status,
  day_id = excluded.day_id,
  area_id = excluded.area_id,
  ordered_at = excluded.ordered_at,
  display_number = excluded.display_number,
  payment_method = excluded.payment_method,
  paid_cents = excluded.paid_cents,
  total_cents = excluded.total_cents,
  takeaway = excluded.takeaway,
  table_number = excluded.table_number,
  lines = excluded.lines`.execute(tx)
}

/** The lines as the API answers them (public-api-v1.md 2.8), in the message's order. */
function linesAsAnswered(lines: OrderLine[]): string {
  return JSON.stringify(
    lines.map(({ menuItemId, itemName, quantity, unitPrice, note }) => ({
      menuItemId,
      itemName,
      quantity,
      unitPrice: toEuros(unitPrice),
      note,
    })),
  )
}

export type OrderRefunds = { eventId: EventId; orderId: OrderId; refunds: RefundSums }

/** Stores the sums of refunds of orders; an order that has not come yet gets a row that waits for it. */
export async function storeRefundSums(tx: Tx, sums: OrderRefunds[]): Promise<void> {
  await sql`
insert into orders (event_id, order_id, version, refunded_cents, refunded_lines)
select event_id, order_id, 0, refunded_cents, refunded_lines from unnest(
  ${sums.map(({ eventId }) => eventId)}::uuid[],
  ${sums.map(({ orderId }) => orderId)}::text[],
  ${sums.map(({ refunds }) => refunds.amount)}::bigint[],
  ${sums.map(({ refunds }) => JSON.stringify(refunds.lines))}::json[]
) as sums (event_id, order_id, refunded_cents, refunded_lines)
on conflict (event_id, order_id) do update
set refunded_cents = excluded.refunded_cents, refunded_lines = excluded.refunded_lines`.execute(tx)
}
