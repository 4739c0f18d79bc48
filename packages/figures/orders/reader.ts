import type { EventId, OrderStatus } from '@tally/contract'
import type { Database } from '@tally/platform'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { allAreas } from '../counting/counters.ts'
import { statement, statusColumns } from '../tables/statement.ts'
import { orderBucketMs } from '../time.ts'
import { type AnsweredRow, columnsBut, type OrderParts, toAnswer } from './table.ts'

const withoutLines = statement(`${columnsBut('event_id', 'version', 'lines')}, refunded_cents`)()

/** One order as the JSON of the API, or undefined. */
export async function readStoredOrder(
  db: Kysely<Database>,
  eventId: EventId,
  orderId: string,
): Promise<string | undefined> {
  const { rows } = await sql<AnsweredRow>`
select ${withoutLines}, lines from orders where event_id = ${eventId} and order_id = ${orderId} and version > 0`.execute(
    db,
  )
  return rows[0] && toAnswer(rows[0]).join('')
}

/**
 * Below this offset and without a filter, a page is read from the newest order: 0.3 ms at 1,000,000 orders. Order
 * buckets cost 2 ms on any page; reading from the top costs as much at offset 8,000, and from 2,000 on Postgres without
 * statistics sorts the whole event. A filter may match none of the newest orders: day one of five took 430 ms from the
 * top.
 */
const deepOffset = 1_000

/** Orders as the JSON of the API. With too many bytes of lines only these: of the page, and of its largest order. */
type OrderPage = { orders: OrderParts[] } | { orders: undefined; bytes: number; largest: number }

export type PageAsked = {
  offset: number
  limit: number
  /** With more bytes of lines Postgres sends none. */
  mostBytes: number
  deep?: number
}

/**
 * A page of orders: newest first, then by id in byte order, both descending. From the offset `deep` on, the work grows
 * with the number of order buckets and the orders in those of the page, not with the pages before it. Use it in a
 * snapshot.
 */
export async function readOrderPage(
  db: Kysely<Database>,
  filter: OrderFilter,
  { offset, limit, mostBytes, deep = isFiltered(filter) ? 0 : deepOffset }: PageAsked,
): Promise<OrderPage> {
  const buckets = offset < deep ? undefined : await findPageBuckets(db, filter, { offset, limit })
  const { eventId, dayId, areaId, status } = filter
  const { rows } = await sql<AnsweredRow & { bytes: number; largest: number }>`
select ${withoutLines}, case when bytes <= ${mostBytes} then lines end as lines, bytes, largest
from (
select *, (sum(octet_length(lines::text)) over ())::bigint as bytes,
  max(octet_length(lines::text)) over () as largest
from (
select ${withoutLines}, lines
from orders
where event_id = ${eventId} and ordered_at is not null
${buckets === undefined ? sql`` : sql`and ordered_at >= ${buckets.sinceMs} and ordered_at < ${buckets.untilMs}`}
${dayId === undefined ? sql`` : sql`and day_id = ${dayId}`}
${areaId === undefined ? sql`` : sql`and area_id = ${areaId}`}
${status === undefined ? sql`and status <> 'Cancelled'` : sql`and status = ${status}`}
order by ordered_at desc, order_id desc
limit ${limit} offset ${buckets?.skipped ?? offset}
) as page
) as measured
order by ordered_at desc, order_id desc`.execute(db)
  const { bytes, largest } = rows[0] ?? { bytes: 0, largest: 0 }
  return bytes > mostBytes ? { orders: undefined, bytes, largest } : { orders: rows.map(toAnswer) }
}

function isFiltered({ dayId, areaId, status }: OrderFilter): boolean {
  return dayId !== undefined || areaId !== undefined || status !== undefined
}

/** The number of orders that match a filter, from the daily counters. */
export async function countOrders(
  db: Kysely<Database>,
  { eventId, dayId, areaId, status }: OrderFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
select coalesce(sum(${keptOrders(status)}), 0)::bigint as count
from daily_counters
where event_id = ${eventId} and area_id = ${areaId ?? allAreas}
${dayId === undefined ? sql`` : sql`and day_id = ${dayId}`}`.execute(db)
  return rows[0]?.count ?? 0
}

/** Which orders a list shows. */
export type OrderFilter = {
  eventId: EventId
  dayId: number | undefined
  areaId: number | undefined
  /** Absent: everything but Cancelled (docs/api.md, Answers). */
  status: OrderStatus | undefined
}

/** The number of orders with a filter's status, as a sum of the status columns of a row. */
function keptOrders(status: OrderStatus | undefined): RawBuilder<number> {
  const { Cancelled, ...listed } = statusColumns
  const columns = status === undefined ? Object.values(listed) : [statusColumns[status]]
  return sql.join(
    columns.map(column => sql.ref(column)),
    sql` + `,
  )
}

/** The order buckets of a page: its orders are from `sinceMs` until before `untilMs`, after `skipped` of them. */
type PageBuckets = { sinceMs: number; untilMs: number; skipped: number }

/**
 * Finds the page of `limit` orders after the first `offset` in a filtered list: adds up the buckets from the newest.
 * Undefined if they hold no more than `offset` orders.
 */
export async function findPageBuckets(
  db: Kysely<Database>,
  { eventId, dayId, areaId, status }: OrderFilter,
  { offset, limit }: { offset: number; limit: number },
): Promise<PageBuckets | undefined> {
  const { rows } = await sql<{ newest: number | null; oldest: number; newer: number }>`
select max(order_bucket) as newest, min(order_bucket) as oldest, min(up_to - orders)::bigint as newer
from (
  select order_bucket, sum(${keptOrders(status)}) as orders, sum(sum(${keptOrders(status)})) over (order by order_bucket desc) as up_to
  from order_buckets
  where event_id = ${eventId}
  ${dayId === undefined ? sql`` : sql`and day_id = ${dayId}`}
  ${areaId === undefined ? sql`` : sql`and area_id = ${areaId}`}
  group by order_bucket
) as walked
where orders > 0 and up_to > ${offset} and up_to - orders < ${offset + limit}`.execute(db)
  const [found] = rows
  if (found === undefined || found.newest === null) return undefined
  const { newest, oldest, newer } = found
  return { sinceMs: oldest * orderBucketMs, untilMs: (newest + 1) * orderBucketMs, skipped: offset - newer }
}
