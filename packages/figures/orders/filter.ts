import type { EventId, OrderStatus } from '@tally/contract'
import { type RawBuilder, sql } from 'kysely'
import { statusColumns } from '../tables/statusColumns.ts'

/** Which orders a list shows. */
export type OrderFilter = {
  eventId: EventId
  dayId: number | undefined
  areaId: number | undefined
  /** Absent: everything but Cancelled (docs/api.md, Answers). */
  status: OrderStatus | undefined
}

/** The number of orders with a filter's status, as a sum of the status columns of a row. */
export function keptOrders(status: OrderStatus | undefined): RawBuilder<number> {
  const { Cancelled, ...listed } = statusColumns
  const kept = status === undefined ? Object.values(listed) : [statusColumns[status]]
  return sql.join(
    kept.map(column => sql.ref(column)),
    sql` + `,
  )
}
