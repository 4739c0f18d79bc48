import { type Kysely, sql } from 'kysely'

/**
 * How large each event is in Postgres and Redis, as measured at one of its revisions, so that somebody notices an
 * organization that fills them. Events that exist are measured within minutes.
 *
 * Cost: none that grows with the data; `alter table` waits for running batches, and new ones wait for it. A projector
 * of the version before that still runs leaves the columns alone.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table event_heads
  add column measured_revision bigint not null default 0,
  add column counted_rows bigint not null default 0,
  add column redis_bytes bigint not null default 0;
`.execute(db)
}
