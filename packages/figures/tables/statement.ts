import { type OrderStatus, orderStatuses } from '@tally/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Counter } from '../counting/counter.ts'
import { counterNames, counters } from '../counting/counters.ts'

/**
 * A statement, or a part of one, by its text with `$` for each parameter: for texts that are made of the declarations
 * of counters, once, when a module is loaded. test/statements.sql shows them all.
 */
export function statement<Result = unknown>(text: string): (...values: unknown[]) => RawBuilder<Result> {
  const parts = text.split('$') as unknown as TemplateStringsArray
  return (...values) => sql<Result>(parts, ...values)
}

/** One statement that writes rows which no other write of its batch touches. */
export type Write = RawBuilder<unknown>

const placeColumns = ['day_id', 'area_id']

/** The column of an amount: ready_for_pickup for `ReadyForPickup`, sales_cents for `salesCents`. */
export const columnOf = (amount: string): string =>
  amount.replace(/[A-Z]/g, (letter, index) => `${index === 0 ? '' : '_'}${letter.toLowerCase()}`)

/** The columns of a counter's amounts, in their order. */
export const amountColumns = ({ amounts }: Counter): string[] => Object.keys(amounts).map(columnOf)

/** The name of a counter's own key, if it has one: the column of it, unless it is stored in blocks. */
export const ownKeyOf = ({ key }: Counter): string | undefined =>
  Object.keys(key).find(column => !placeColumns.includes(column))

/** The columns of a counter's primary key after `event_id`. Blocks are keyed by their number. */
export const keyColumns = (counter: Counter): string[] =>
  Object.keys(counter.key).map(column =>
    counter.blocks !== undefined && column === ownKeyOf(counter) ? 'block' : column,
  )

/** The table of each counter. */
export const counterTables: string[] = counterNames.map(name => counters[name].table)

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

/**
 * How much stored text one statement of a batch reads, give or take its last row. A batch has at most 10,000 records,
 * and each of 200 bytes may name a stored order of 0.6 MB: all of them would be 6 GB. Parsed, text takes up to five
 * times its size.
 */
const mostStoredBytes = 32 * 1024 * 1024

/** A text column of a statement, null from the row on before which the statement has read enough. */
export const withinBound = (column: RawBuilder<unknown>) => sql<string | null>`
case when coalesce(
  sum(octet_length(${column})) over (rows between unbounded preceding and 1 preceding), 0
) < ${mostStoredBytes}::bigint then ${column} end`

/**
 * The text of a row of `withinBound`. Throws a TooMuchStoredError if it was beyond the bound, which the first never is:
 * the batch has to be applied in smaller pieces (`projectPieces` of packages/projection).
 */
export function readWithin(text: string | null): string {
  if (text === null) throw new TooMuchStoredError()
  return text
}

export class TooMuchStoredError extends Error {
  override name = 'TooMuchStoredError'
  override message =
    `what is stored of the orders or refunds of one batch has more than ${mostStoredBytes} bytes`
}
