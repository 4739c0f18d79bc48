import type { StatusCounts } from '@tally/core'
import { sql } from 'kysely'

/** The columns of a table that counts orders by status. */
export type StatusColumns = {
  pre_order: number
  pending: number
  paid: number
  preparing: number
  ready_for_pickup: number
  completed: number
  cancelled: number
}

/** Those columns by the names of the statuses. */
export const statusCounts = sql`
pre_order as "PreOrder", pending as "Pending", paid as "Paid", preparing as "Preparing",
ready_for_pickup as "ReadyForPickup", completed as "Completed", cancelled as "Cancelled"`

/** Whether all counts are zero. */
export const areZero = (counts: StatusCounts): boolean => Object.values(counts).every(count => count === 0)
