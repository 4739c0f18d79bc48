import { type Kysely, sql } from 'kysely'

/**
 * Removed events (`tally events remove`). The table says what was removed, for good; the mark on the head, which every
 * batch locks, makes projectors ignore further records of the event.
 *
 * Cost: none that grows with the data; `alter table` waits for running batches, and new ones wait for it. A projector
 * of the version before that still runs applies records of removed events: remove events after the upgrade.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table event_heads add column is_removed boolean not null default false;

create table removed_events (
  event_id uuid primary key,
  organization_id uuid,
  removed_at timestamptz not null default now(),
  emptied_at timestamptz
);
create index removed_events_not_empty on removed_events (event_id) where emptied_at is null;
`.execute(db)
}
