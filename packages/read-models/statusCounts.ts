import type { OrderStatus } from '@tally/contract'
import type { StatusCounts } from '@tally/core'
import { type RawBuilder, sql } from 'kysely'

/** The column of each status, in every table that counts orders by status. */
export const statusColumns = {
  PreOrder: 'pre_order',
  Pending: 'pending',
  Paid: 'paid',
  Preparing: 'preparing',
  ReadyForPickup: 'ready_for_pickup',
  Completed: 'completed',
  Cancelled: 'cancelled',
} as const satisfies Record<OrderStatus, string>
const statuses = Object.keys(statusColumns) as OrderStatus[]
const columns = Object.values(statusColumns)

export type StatusColumns = Record<(typeof columns)[number], number>

/** The columns under the names of the statuses. */
export const statusCounts = sql.join(
  Object.entries(statusColumns).map(([status, column]) => sql`${sql.id(column)} as ${sql.id(status)}`),
)

/** The number of orders of a row, whatever their status. */
export const statusTotal = sql.join(
  columns.map(column => sql.id(column)),
  sql` + `,
)

/** The columns in an insert. */
export const statusColumnNames = sql.join(columns.map(column => sql.id(column)))

/** The assignments that add inserted counts to stored ones. */
export const statusColumnSums = sql.join(
  columns.map(column => sql`${sql.id(column)} = ${sql.id('stored', column)} + ${sql.id('excluded', column)}`),
)

/** The counts of all rows as one array per column, made by `array`. */
export const statusArrays = (
  rows: { statuses: StatusCounts }[],
  array: (counts: number[]) => RawBuilder<unknown>,
): RawBuilder<unknown> => sql.join(statuses.map(one => array(rows.map(row => row.statuses[one]))))

/** Whether all counts are zero. */
export const areZero = (counts: StatusCounts): boolean => Object.values(counts).every(count => count === 0)
