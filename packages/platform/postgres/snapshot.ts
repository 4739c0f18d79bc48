import type { Transaction } from 'kysely'
import type { Database, Postgres } from './database.ts'

/** Reads in it see only whole batches. */
export type Snapshot = Transaction<Database>

/** Runs reads in one snapshot of the database. */
export function inSnapshot<Result>(
  db: Postgres,
  read: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read)
}
