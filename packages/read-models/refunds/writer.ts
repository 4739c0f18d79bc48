import type { EventId, Refund, RefundId } from '@tally/contract'
import { bigints, jsons, type Tx, texts, uuids } from '@tally/storage'
import { sql } from 'kysely'
import type { Write } from '../write.ts'

export type RefundKey = { eventId: EventId; refundId: RefundId }
export const refundKey = ({ eventId, refundId }: RefundKey): string => `${eventId}${refundId}`

/** Which of these refunds were applied before, by `refundKey`; the `offset 0` has each looked up by its key. */
export async function readSeenRefunds(tx: Tx, keys: RefundKey[]): Promise<Set<string>> {
  const { rows } = await sql<{ event_id: EventId; refund_id: RefundId }>`
select event_id, refund_id
from unnest(
  ${uuids(keys.map(({ eventId }) => eventId))}::uuid[],
  ${texts(keys.map(({ refundId }) => refundId))}::text[]
) as asked (event_id, refund_id)
cross join lateral (
  select from refunds where (event_id, refund_id) = (asked.event_id, asked.refund_id) offset 0
) as seen`.execute(tx)
  return new Set(rows.map(row => refundKey({ eventId: row.event_id, refundId: row.refund_id })))
}

/** The write that stores refunds that were not applied before; each id at most once. */
export function storeRefunds(refunds: Refund[]): Write {
  return sql`
insert into refunds (event_id, refund_id, order_id, refunded_at, amount_cents, lines)
select * from unnest(
  ${uuids(refunds.map(({ eventId }) => eventId))}::uuid[],
  ${texts(refunds.map(({ refundId }) => refundId))}::text[],
  ${texts(refunds.map(({ orderId }) => orderId))}::text[],
  ${bigints(refunds.map(({ refundedAt }) => refundedAt))}::bigint[],
  ${bigints(refunds.map(({ amount }) => amount))}::bigint[],
  ${jsons(refunds.map(({ lines }) => JSON.stringify(lines)))}::json[]
)`
}
