import { type OrderLine, type OrderStatus, toEuros } from '@tally/contract'
import type { Database } from '@tally/platform'
import { type Kysely, sql } from 'kysely'
import { effectiveCents, isConfirmed } from '../counting/facts.ts'
import type { OrderFilter } from './reader.ts'

type Day = Pick<OrderFilter, 'eventId'> & { dayId: number }

/** An order of a day, in euros. `takings` is its part of the day's: the effective amount, 0 if it does not count. */
export type DayOrder = {
  orderId: string
  number: string
  status: OrderStatus
  areaId: number
  orderedAt: number
  paymentMethod: string
  isTakeaway: boolean
  tableNumber: string | null
  lines: OrderLine[]
  total: number
  effective: number
  takings: number
}

type Row = Omit<DayOrder, 'lines' | 'total' | 'effective' | 'takings'> & {
  lines: string
  totalCents: number
  refundedCents: number
}

const [firstPage, largestPage] = [100, 1_000]
/** What the lines of a page have, apart from its last order: some 400 orders. An unread download keeps a page. */
const pageBytes = 128 * 1_024

/** All orders of a day by time and id, read in pages: memory grows neither with the day nor with its orders. */
export async function* scanDay(db: Kysely<Database>, { eventId, dayId }: Day): AsyncGenerator<DayOrder> {
  let last = { orderedAt: Number.MIN_SAFE_INTEGER, orderId: '' }
  for (let limit = firstPage; limit > 0; ) {
    const { rows } = await sql<Row>`
select "orderId", number, status, "areaId", "orderedAt", "paymentMethod", "isTakeaway", "tableNumber", lines,
  "totalCents", "refundedCents"
from (
select *, sum(octet_length(lines::text)) over (order by "orderedAt", "orderId" rows between unbounded preceding
  and 1 preceding) as "bytesBefore"
from (
select order_id as "orderId", display_number as number, status, area_id as "areaId", ordered_at as "orderedAt",
  payment_method as "paymentMethod", takeaway as "isTakeaway", table_number as "tableNumber", lines,
  total_cents as "totalCents", refunded_cents as "refundedCents"
from orders
where event_id = ${eventId} and day_id = ${dayId} and ordered_at is not null
  and (ordered_at, order_id) > (${last.orderedAt}::bigint, ${last.orderId})
order by ordered_at, order_id
limit ${limit}
) as page
) as measured
where coalesce("bytesBefore", 0) < ${pageBytes}
order by "orderedAt", "orderId"`.execute(db)
    for (const row of rows) yield dayOrder(row)
    last = rows.at(-1) ?? last
    // Postgres measures all orders up to the limit, so that is near what fits; after the last one it is 0.
    limit = Math.min(2 * rows.length, largestPage)
  }
}

function dayOrder({ lines, totalCents, refundedCents, ...row }: Row): DayOrder {
  const effective = toEuros(effectiveCents(totalCents, refundedCents))
  return {
    ...row,
    lines: JSON.parse(lines) as OrderLine[],
    total: toEuros(totalCents),
    effective,
    takings: isConfirmed(row.status) ? effective : 0,
  }
}
