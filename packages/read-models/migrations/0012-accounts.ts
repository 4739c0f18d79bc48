import { type Kysely, sql } from 'kysely'

/** Accounts of administrators: the browsers in which they have signed in before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
-- Wrong passwords from elsewhere do not count against these browsers (docs/security.md, Sign-in).
create table known_devices (
  device_sha256 bytea primary key,
  administrator_id uuid not null references administrators on delete cascade,
  last_used_at timestamptz not null default now()
);
create index known_devices_by_administrator on known_devices (administrator_id, last_used_at desc);
`.execute(db)
}
