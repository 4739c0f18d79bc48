import { type OrderStatus, orderStatuses } from '@tally/contract'
import { columnOf } from './columns.ts'
import { statement } from './statement.ts'

/** The column of each status, in every table that counts orders by status. */
export const statusColumns = Object.fromEntries(
  orderStatuses.map(status => [status, columnOf(status)]),
) as Record<OrderStatus, string>

/** The columns under the names of the statuses. */
export const statusCounts = statement(
  orderStatuses.map(status => `${statusColumns[status]} as "${status}"`).join(', '),
)()

/** The number of orders of a row, whatever their status. */
export const statusTotal = statement(Object.values(statusColumns).join(' + '))()
