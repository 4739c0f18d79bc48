import type { Database } from '../postgres/database.ts'
import type { Postgres } from '../postgres/pool.ts'
import type { Transaction } from 'kysely'

/** Runs reads in one snapshot of the database: whole batches or nothing of them. */
export function inSnapshot<Result>(
  db: Postgres,
  read: (snapshot: Transaction<Database>) => Promise<Result>,
): Promise<Result> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read)
}
