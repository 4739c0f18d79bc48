import { type Kysely, sql } from 'kysely'

/**
 * Versions of refunds, so that one that failed can be taken back. Refunds that are stored are version 1, as are those
 * of a record without a version.
 *
 * Cost: none that grows with the data; `alter table` waits for running batches, and new ones wait for it. A projector
 * of the version before that still runs takes a further version of a refund for a repeat, and ignores it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table refunds add column version bigint not null default 1;
`.execute(db)
}
