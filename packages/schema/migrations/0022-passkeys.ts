import { type Kysely, sql } from 'kysely'

/**
 * Passkeys of administrators, and when a session last proved its second factor.
 *
 * Cost: none that grows with the data. An administration area of the version before does not know passkeys: who has no
 * other second factor signs in there with the password alone.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
create table passkeys (
  passkey_id bigint primary key generated always as identity,
  administrator_id uuid not null references administrators on delete cascade,
  credential_id text not null unique,
  public_key bytea not null,
  -- How often the authenticator has signed, if it counts: a copy of it falls behind.
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_by_administrator on passkeys (administrator_id);

alter table admin_sessions add column factor_at timestamptz;
`.execute(db)
}
