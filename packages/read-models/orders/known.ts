import { type EventId, type OrderId, type OrderLine, toCents } from '@tally/contract'
import { type CountedOrder, type KnownOrder, noRefunds, type RefundSums } from '@tally/core'
import { sql } from 'kysely'
import type { Tx } from '../postgres/database.ts'

export type OrderKey = { eventId: EventId; orderId: OrderId }

/** One text for one order: an event id has a fixed length. */
export const orderKey = ({ eventId, orderId }: OrderKey): string => `${eventId}${orderId}`

type KnownRow = {
  event_id: EventId
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
}

/** What is known of these orders, by `orderKey`; those of which nothing is known are absent. */
export async function readKnownOrders(tx: Tx, keys: OrderKey[]): Promise<Map<string, KnownOrder>> {
  const { rows } = await sql<KnownRow>`
select event_id, order_id, version, status, day_id, area_id, ordered_at, total_cents, lines, refunded_cents, refunded_lines
from unnest(
  ${keys.map(({ eventId }) => eventId)}::uuid[],
  ${keys.map(({ orderId }) => orderId)}::text[]
) as asked (event_id, order_id)
join orders using (event_id, order_id)`.execute(tx)
  return new Map(rows.map(row => [orderKey({ eventId: row.event_id, orderId: row.order_id }), fromRow(row)]))
}

function fromRow(row: KnownRow): KnownOrder {
  const refunds: RefundSums =
    row.refunded_lines === null
      ? noRefunds
      : { amount: row.refunded_cents, lines: JSON.parse(row.refunded_lines) }
  if (row.version === 0) return { order: undefined, refunds }
  const lines = JSON.parse(row.lines) as OrderLine[]
  return {
    order: {
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
    },
    refunds,
  }
}
