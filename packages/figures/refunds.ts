import type { EventId, OrderId, Refund, RefundId } from '@tally/contract'
import { bigints, jsons, type Tx, texts, uuids } from '@tally/platform'
import { sql } from 'kysely'
import type { RefundSums } from './counting/facts.ts'
import { readWithin, type Write, withinBound } from './tables/statement.ts'

type RefundKey = { eventId: EventId; refundId: RefundId }
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

/** A stored refund, with what counting needs to know of it. */
export type ScannedRefund = Pick<Refund, 'orderId' | 'refundId' | 'refundedAt' | 'amount' | 'lines'>

type RefundRow = Omit<ScannedRefund, 'lines'> & { lines: string }

const pageSize = 2_000

/**
 * All refunds of an event by their order's id in byte order, a page at a time. The table is keyed by refund, so a
 * cursor sorts them once, on disk if there are many. One scan at a time per transaction.
 */
export async function* scanRefunds(tx: Tx, eventId: EventId): AsyncGenerator<ScannedRefund, undefined> {
  await sql`
declare refunds_by_order no scroll cursor for
select refund_id as "refundId", order_id as "orderId", refunded_at as "refundedAt", amount_cents as amount, lines
from refunds
where event_id = ${sql.lit(eventId)}::uuid
order by order_id, refund_id`.execute(tx)
  for (;;) {
    const { rows } = await sql<RefundRow>`fetch ${sql.lit(pageSize)} from refunds_by_order`.execute(tx)
    for (const row of rows) yield { ...row, lines: JSON.parse(row.lines) }
    if (rows.length < pageSize) break
  }
  await sql`close refunds_by_order`.execute(tx)
}
