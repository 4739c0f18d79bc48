import { type EventId, formatTimestamp, type OrderAnswer, type OrderStatus, toEuros } from '@tally/contract'
import { allAreas, effectiveCents } from '@tally/core'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../postgres/database.ts'

export type OrderFilter = {
  eventId: EventId
  dayId: number | undefined
  areaId: number | undefined
  /** Absent: everything but Cancelled (decisions.md, Answers). */
  status: OrderStatus | undefined
}

type OrderRow = {
  order_id: string
  status: OrderStatus
  day_id: number
  area_id: number
  ordered_at: number
  display_number: string
  payment_method: string
  paid_cents: number
  total_cents: number
  refunded_cents: number
  takeaway: boolean
  table_number: string | null
  lines: string
}

const columns = sql`
order_id, status, day_id, area_id, ordered_at, display_number, payment_method,
paid_cents, total_cents, refunded_cents, takeaway, table_number, lines`

/** One order as the JSON of the API, or undefined. */
export async function readOrder(
  db: Kysely<Database>,
  eventId: EventId,
  orderId: string,
): Promise<string | undefined> {
  const { rows } = await sql<OrderRow>`
select ${columns} from orders where event_id = ${eventId} and order_id = ${orderId} and version > 0`.execute(
    db,
  )
  return rows[0] && toAnswer(rows[0])
}

/** Orders as the JSON of the API: newest first, then by id in byte order, both descending. */
export async function readOrderPage(
  db: Kysely<Database>,
  { eventId, dayId, areaId, status }: OrderFilter,
  { offset, limit }: { offset: number; limit: number },
): Promise<string[]> {
  const { rows } = await sql<OrderRow>`
select ${columns}
from orders
where event_id = ${eventId} and version > 0
${dayId === undefined ? sql`` : sql`and day_id = ${dayId}`}
${areaId === undefined ? sql`` : sql`and area_id = ${areaId}`}
${status === undefined ? sql`and status <> 'Cancelled'` : sql`and status = ${status}`}
order by ordered_at desc, order_id desc
limit ${limit} offset ${offset}`.execute(db)
  return rows.map(toAnswer)
}

const statusColumns = {
  PreOrder: 'pre_order',
  Pending: 'pending',
  Paid: 'paid',
  Preparing: 'preparing',
  ReadyForPickup: 'ready_for_pickup',
  Completed: 'completed',
  Cancelled: 'cancelled',
} as const satisfies Record<OrderStatus, keyof Database['daily_counters']>

/** How many orders a filter keeps, from the daily counters. */
export async function countOrders(
  db: Kysely<Database>,
  { eventId, dayId, areaId, status }: OrderFilter,
): Promise<number> {
  const { Cancelled, ...listed } = statusColumns
  const counted = status === undefined ? Object.values(listed) : [statusColumns[status]]
  const sum = sql.join(
    counted.map(column => sql.ref(column)),
    sql` + `,
  )
  const { rows } = await sql<{ count: number }>`
select coalesce(sum(${sum}), 0)::bigint as count
from daily_counters
where event_id = ${eventId} and area_id = ${areaId ?? allAreas}
${dayId === undefined ? sql`` : sql`and day_id = ${dayId}`}`.execute(db)
  return rows[0]?.count ?? 0
}

/** The order of public-api-v1.md 2.8; its lines are kept as they go out. */
function toAnswer(row: OrderRow): string {
  const order = {
    id: row.order_id,
    displayOrderNumber: row.display_number,
    status: row.status,
    areaId: row.area_id,
    dayId: row.day_id,
    orderDateTime: formatTimestamp(row.ordered_at),
    paymentMethod: row.payment_method,
    amountPaid: toEuros(row.paid_cents),
    totalAmount: toEuros(row.total_cents),
    effectiveAmount: toEuros(effectiveCents(row.total_cents, row.refunded_cents)),
    isTakeaway: row.takeaway,
    tableNumber: row.table_number,
  } satisfies Omit<OrderAnswer, 'items'>
  return `${JSON.stringify(order).slice(0, -1)},"items":${row.lines}}`
}
