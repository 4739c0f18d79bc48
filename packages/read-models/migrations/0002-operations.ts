import { type Kysely, sql } from 'kysely'

/** Tables of the platform team's commands: which dead letters were replayed, and how far a rebuild has come. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
create table replayed_letters (
  letter_id text primary key,
  started_at timestamptz not null default now(),
  sent_at timestamptz
);

create table rebuilds (
  rebuild_id integer generated always as identity primary key,
  started_at timestamptz not null default now(),
  last_event_id uuid,
  finished_at timestamptz
);
`.execute(db)
}
