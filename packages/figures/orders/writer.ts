import type { EventId, Order, OrderId } from '@tally/contract'
import { bigints, jsons, texts, uuids } from '@tally/platform'
import { sql } from 'kysely'
import type { RefundSums } from '../counting/refundSums.ts'
import { statement } from '../tables/statement.ts'
import type { Write } from '../tables/write.ts'
import { insertOrdersText, recordColumns, replaceOrdersText } from './columns.ts'

const arrays = Object.values(recordColumns).map(({ array }) => array)
const insert = statement(insertOrdersText)
const insertOrReplace = statement(insertOrdersText + replaceOrdersText)

/** The write that stores orders at their winning version, each order at most once; the sums of their refunds stay. */
export function storeOrders(orders: Order[]): Write | undefined {
  return orders.length === 0 ? undefined : insertOrReplace(...arrays.map(array => array(orders)))
}

/** The same for orders not stored yet, of locked events: without the check for conflicts it takes two thirds. */
export function storeNewOrders(orders: Order[]): Write | undefined {
  return orders.length === 0 ? undefined : insert(...arrays.map(array => array(orders)))
}

export type OrderRefunds = { eventId: EventId; orderId: OrderId; refunds: RefundSums }

/** The write that stores the sums of refunds of orders; an order that has not arrived yet gets a row of version 0. */
export function storeRefundSums(sums: OrderRefunds[]): Write {
  return sql`
insert into orders (event_id, order_id, version, refunded_cents, refunded_lines)
select event_id, order_id, 0, refunded_cents, refunded_lines from unnest(
  ${uuids(sums.map(({ eventId }) => eventId))}::uuid[],
  ${texts(sums.map(({ orderId }) => orderId))}::text[],
  ${bigints(sums.map(({ refunds }) => refunds.amount))}::bigint[],
  ${jsons(sums.map(({ refunds }) => JSON.stringify(refunds.lines)))}::json[]
) as sums (event_id, order_id, refunded_cents, refunded_lines)
on conflict (event_id, order_id) do update
set refunded_cents = excluded.refunded_cents, refunded_lines = excluded.refunded_lines`
}
