import { type RawBuilder, sql } from 'kysely'

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
 * The text of a row of `withinBound`. Throws a TooMuchStoredError if it was beyond the bound: then the batch has to be
 * applied in smaller pieces (`projectPieces` of packages/projection). The first row is never beyond it.
 */
export function readWithin(text: string | null): string {
  if (text === null) throw new TooMuchStoredError()
  return text
}

class TooMuchStoredError extends Error {
  override name = 'TooMuchStoredError'
  constructor() {
    super(`what is stored of the orders or refunds of one batch has more than ${mostStoredBytes} bytes`)
  }
}
