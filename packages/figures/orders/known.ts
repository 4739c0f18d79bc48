import { type EventId, type Order, type OrderId, type OrderLine, toCents } from '@tally/contract'
import { type Postgres, type Tx, texts, uuids } from '@tally/platform'
import { type RawBuilder, sql } from 'kysely'
import {
  type CountedOrder,
  getOrInsertComputed,
  type KnownOrder,
  noRefunds,
  type RefundSums,
} from '../counting/facts.ts'
import { readWithin, statement, withinBound } from '../tables/statement.ts'
import { columnsBut, fieldsBut } from './table.ts'

/** One stored order: its key, then its columns. The order's own are missing at version 0. */
type StoredOrder = [
  eventId: EventId,
  orderId: OrderId,
  refundedCents: number,
  refundedLines: RefundSums['lines'] | null,
  version: number,
  status: CountedColumns['status'],
  dayId: CountedColumns['day_id'],
  areaId: CountedColumns['area_id'],
  orderedAt: CountedColumns['ordered_at'],
  paymentMethod: CountedColumns['payment_method'],
  totalCents: CountedColumns['total_cents'],
  lines: OrderLine[],
]

/** Orders by event and id. */
type AskedOrders = ReadonlyMap<EventId, ReadonlyMap<OrderId, unknown>>

/** The columns of an order that counting needs. */
export const countedColumns = sql`
order_id, version, status, day_id, area_id, ordered_at, payment_method, total_cents, lines, refunded_cents, refunded_lines`

/**
 * The columns of those of these orders of which something is stored, as the relation `stored`. Postgres searches the
 * primary key for each, event by event, so that neighbours in the index follow each other. The ids of an event are one
 * text with spaces between them, which no id has (docs/records.md): a row for each in `from` would first be copied to a
 * tuple store. One search for all of them (`order_id = any(…)`) would be faster still, but Postgres 15 and 16 may then
 * read all orders of the event, and keep that plan (docs/decisions/0012-one-statement-per-batch.md). The second
 * `offset 0` forces the search: without it Postgres may scan the whole table.
 */
const storedOf = (asked: AskedOrders, columns: RawBuilder<unknown>) => sql`
unnest(
  ${uuids([...asked.keys()])}::uuid[],
  ${texts([...asked.values()].map(orders => [...orders.keys()].join(' ')))}::text[]
) as asked (event_id, order_ids)
cross join lateral (
  select unnest(string_to_array(asked.order_ids, ' ')) as order_id
  offset 0
) as one
cross join lateral (
  select ${columns}
  from orders
  where event_id = asked.event_id and order_id = one.order_id
  offset 0
) as stored`

/**
 * Returns what is known of those of these orders (the keys of each event's map) of which something is stored: the order
 * or its refunds. A row is one JSON text: pg takes longer for each of eleven columns than JSON.parse for all. Throws a
 * TooMuchStoredError (tables/statement.ts).
 */
export async function readKnownOrders(
  tx: Tx,
  asked: AskedOrders,
): Promise<Map<EventId, Map<OrderId, KnownOrder>>> {
  const { rows } = await sql<{ stored: string | null }>`
select ${withinBound(sql`stored`)} as stored
from (
  select '[' || concat_ws(
    ',', '"' || asked.event_id || '"', to_json(stored.order_id), refunded_cents, coalesce(refunded_lines::text, 'null'),
    version, '"' || status || '"', day_id, area_id, ordered_at, to_json(payment_method), total_cents, lines
  ) || ']' as stored
  from ${storedOf(asked, countedColumns)}
) as known`.execute(tx)
  const known = new Map<EventId, Map<OrderId, KnownOrder>>()
  for (const { stored } of rows) {
    const order = JSON.parse(readWithin(stored)) as StoredOrder
    const [eventId, orderId] = order
    getOrInsertComputed(known, eventId, () => new Map()).set(orderId, knownOrder(order))
  }
  return known
}

function knownOrder(stored: StoredOrder): KnownOrder {
  const [
    _eventId,
    _orderId,
    amount,
    refundedLines,
    version,
    status,
    day_id,
    area_id,
    ordered_at,
    payment_method,
    total_cents,
    lines,
  ] = stored
  return {
    order: countedOrder({ version, status, day_id, area_id, ordered_at, payment_method, total_cents }, lines),
    refunds: refundedLines === null ? noRefunds : { amount, lines: refundedLines },
  }
}

/** The order's own columns. Version 0: only refunds have arrived, and the others are null. */
type CountedColumns = {
  version: number
  status: CountedOrder['status']
  day_id: CountedOrder['dayId']
  area_id: CountedOrder['areaId']
  ordered_at: CountedOrder['orderDateTime']
  payment_method: CountedOrder['paymentMethod']
  total_cents: CountedOrder['totalAmount']
}

/** A row of `countedColumns`. */
export type CountedRow = CountedColumns & {
  order_id: OrderId
  lines: string
  refunded_cents: number
  refunded_lines: string | null
}

/** The order of a row and its stored lines, money in cents; undefined while only refunds have arrived. */
export function countedOrder(row: CountedColumns, lines: OrderLine[]): CountedOrder | undefined {
  if (row.version === 0) return undefined
  return {
    version: row.version,
    status: row.status,
    dayId: row.day_id,
    areaId: row.area_id,
    orderDateTime: row.ordered_at,
    paymentMethod: row.payment_method,
    totalAmount: row.total_cents,
    items: lines.map(({ menuItemId, quantity, unitPrice }) => ({
      menuItemId,
      quantity,
      unitPrice: toCents(unitPrice),
    })),
  }
}

type StoredRow = Omit<Order, 'items'> & { lines: string | null }

const columns = statement(columnsBut('event_id'))()
const fields = statement(fieldsBut('event_id', 'order_id', 'lines'))()

/**
 * These orders (the keys of each event's map) as their applied records say, money in cents. Only for records that
 * repeat a version: what is applied is compared with them. Throws a TooMuchStoredError (tables/statement.ts).
 */
export async function readStoredOrders(
  db: Postgres,
  asked: AskedOrders,
): Promise<Map<EventId, Map<OrderId, Order>>> {
  const { rows } = await sql<StoredRow>`
select asked.event_id as "eventId", stored.order_id as "orderId",
  ${fields},
  ${withinBound(sql`lines::text`)} as lines
from ${storedOf(asked, columns)}
where version > 0`.execute(db)
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
