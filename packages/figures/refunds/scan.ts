import type { EventId, OrderId, Refund, RefundId } from '@tally/contract'
import type { Tx } from '@tally/platform'
import { sql } from 'kysely'

/** A stored refund, with what counting needs to know of it. */
export type ScannedRefund = Pick<Refund, 'orderId' | 'refundId' | 'refundedAt' | 'amount' | 'lines'>

const pageSize = 2_000

type RefundRow = {
  refund_id: RefundId
  order_id: OrderId
  refunded_at: Refund['refundedAt']
  amount_cents: Refund['amount']
  lines: string
}

/**
 * All refunds of an event by their order's id in byte order, a page at a time. The table is keyed by refund, so a
 * cursor sorts them once, on disk if there are many. One scan at a time per transaction.
 */
export async function* scanRefunds(tx: Tx, eventId: EventId): AsyncGenerator<ScannedRefund, undefined> {
  await sql`
declare refunds_by_order no scroll cursor for
select refund_id, order_id, refunded_at, amount_cents, lines
from refunds
where event_id = ${sql.lit(eventId)}::uuid
order by order_id, refund_id`.execute(tx)
  for (;;) {
    const { rows } = await sql<RefundRow>`fetch ${sql.lit(pageSize)} from refunds_by_order`.execute(tx)
    for (const row of rows) yield fromRow(row)
    if (rows.length < pageSize) break
  }
  await sql`close refunds_by_order`.execute(tx)
}

function fromRow({ refund_id, order_id, refunded_at, amount_cents, lines }: RefundRow): ScannedRefund {
  return {
    orderId: order_id,
    refundId: refund_id,
    refundedAt: refunded_at,
    amount: amount_cents,
    lines: JSON.parse(lines),
  }
}
