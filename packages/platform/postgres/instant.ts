import type { ColumnType } from 'kysely'

/** A timestamptz: written as an ISO text, read as epoch milliseconds. */
export type Instant<Null extends null | never = never> = ColumnType<
  number | Null,
  string | Null | undefined,
  string | Null
>
