import type { EventId, Refund, RefundId } from '@tally/contract'
import { bigints, jsons, type Tx, texts, uuids } from '@tally/platform'
import { sql } from 'kysely'
import { readWithin, withinBound } from '../tables/withinBound.ts'
import type { Write } from '../tables/write.ts'

export type RefundKey = { eventId: EventId; refundId: RefundId }
export const refundKey = ({ eventId, refundId }: RefundKey): string => `${eventId}${refundId}`

/** Those of these refunds that are stored, by `refundKey`; `offset 0`: a look-up each. Throws a TooMuchStoredError. */
export async function readKnownRefunds(tx: Tx, keys: RefundKey[]): Promise<Map<string, Refund>> {
  const { rows } = await sql<Omit<Refund, 'lines'> & { lines: string | null }>`
select event_id as "eventId", refund_id as "refundId", version, order_id as "orderId", refunded_at as "refundedAt",
  amount_cents as amount, ${withinBound(sql`lines::text`)} as lines
from unnest(
  ${uuids(keys.map(({ eventId }) => eventId))}::uuid[],
  ${texts(keys.map(({ refundId }) => refundId))}::text[]
) as asked (event_id, refund_id)
cross join lateral (
  select version, order_id, refunded_at, amount_cents, lines
  from refunds
  where (event_id, refund_id) = (asked.event_id, asked.refund_id)
  offset 0
) as stored`.execute(tx)
  return new Map(
    rows.map(row => [
      refundKey(row),
      { ...row, lines: JSON.parse(readWithin(row.lines)) as Refund['lines'] },
    ]),
  )
}

const replaceStored = sql`
on conflict (event_id, refund_id) do update set
  version = excluded.version,
  refunded_at = excluded.refunded_at,
  amount_cents = excluded.amount_cents,
  lines = excluded.lines`

/**
 * The write that stores refunds at their winning version, each at most once; a refund keeps its order. Conflicts are
 * checked for only if some are stored already: see `storeNewOrders`.
 */
export function storeRefunds(refunds: Refund[], { areSomeStored }: { areSomeStored: boolean }): Write {
  return sql`
insert into refunds (event_id, refund_id, version, order_id, refunded_at, amount_cents, lines)
select * from unnest(
  ${uuids(refunds.map(({ eventId }) => eventId))}::uuid[],
  ${texts(refunds.map(({ refundId }) => refundId))}::text[],
  ${bigints(refunds.map(({ version }) => version))}::bigint[],
  ${texts(refunds.map(({ orderId }) => orderId))}::text[],
  ${bigints(refunds.map(({ refundedAt }) => refundedAt))}::bigint[],
  ${bigints(refunds.map(({ amount }) => amount))}::bigint[],
  ${jsons(refunds.map(({ lines }) => JSON.stringify(lines)))}::json[]
)
${areSomeStored ? replaceStored : sql``}`
}
