import { type ColumnType, type Kysely, sql, type Transaction } from 'kysely'

/** Every table, for kysely. Each owner declares its own with `declare module '@tally/platform/database'`. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by the packages that own tables
export interface Database {}

export type Postgres = Kysely<Database>
export type Tx = Transaction<Database>

/** A timestamptz: written as an ISO text, read as epoch milliseconds. */
export type Instant<Null extends null | never = never> = ColumnType<
  number | Null,
  string | Null | undefined,
  string | Null
>

/** Reads in it see only whole batches. */
export type Snapshot = Transaction<Database>

/** Runs reads in one snapshot of the database. */
export function inSnapshot<Result>(
  db: Postgres,
  read: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read)
}

/** Waits until no other transaction holds the lock of this name, and holds it until this one ends. */
export async function lockName(tx: Tx, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx)
}
