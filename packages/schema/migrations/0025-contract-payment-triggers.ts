import { type Kysely, sql } from 'kysely'

/**
 * Drops what counted the payment methods of orders that projectors of the version before wrote. Once none of them runs:
 * what one wrote afterwards would be missing until `tally rebuild`.
 *
 * Cost: none that grows with the data; waits for running batches and reads of orders, and new ones wait for it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
drop trigger count_new_payments on orders;
drop trigger count_changed_payments on orders;
drop trigger count_removed_payments on orders;
drop function count_payments();
`.execute(db)
}
