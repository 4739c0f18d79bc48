import { type Kysely, sql } from 'kysely'

/**
 * When each event changed last: the documents of events that have been quiet for long expire in Redis, and are not
 * published again until somebody asks. Events that exist count as changed now.
 *
 * Cost: none that grows with the data; `alter table` waits for running batches, and new ones wait for it. A projector
 * of the version before that still runs does not move the time on, so that an event may count as quiet too early; its
 * answers then come from Postgres.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table event_heads add column changed_at timestamptz not null default now();
`.execute(db)
}
