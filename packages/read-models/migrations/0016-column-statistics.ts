import { type Kysely, sql } from 'kysely'

/**
 * No statistics of columns that no query searches by. Autovacuum analyzes the tables that batches write about once a
 * minute, and sorts samples of each column: of the five arrays of an items block that took 2 s of a processor.
 *
 * Cost: none that grows with the data, and no lock that batches wait for. It waits for a `vacuum`, `analyze` or `create
 * index concurrently` of the table that is run by hand; autovacuum gives way to it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table item_counters
  alter column orders set statistics 0,
  alter column quantity set statistics 0,
  alter column gross_cents set statistics 0,
  alter column refunded_quantity set statistics 0,
  alter column refunded_cents set statistics 0;
`.execute(db)
}
