import { type Kysely, sql } from 'kysely'

/**
 * No statistics of the columns that no query looks for. Autovacuum analyzes the tables that batches write about once a
 * minute, and sorts samples of each column: of the five arrays of an items block that took seconds of a processor.
 *
 * Cost: none that grows with the data, and no lock that batches wait for.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table item_counters
  alter column orders set statistics 0,
  alter column quantity set statistics 0,
  alter column gross_cents set statistics 0,
  alter column refunded_quantity set statistics 0,
  alter column refunded_cents set statistics 0;
alter table orders
  alter column lines set statistics 0,
  alter column refunded_lines set statistics 0;
alter table refunds alter column lines set statistics 0;
alter table events alter column document set statistics 0;
`.execute(db)
}
