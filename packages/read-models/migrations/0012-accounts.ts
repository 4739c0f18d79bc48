import { type Kysely, sql } from 'kysely'

/**
 * Accounts of administrators: known browsers, second factors, links to set a password, what is known of each
 * session, and links for screens; audit entries that cannot be changed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
-- Wrong passwords from elsewhere do not count against these browsers (docs/security.md, Sign-in).
create table known_devices (
  device_sha256 bytea primary key,
  administrator_id uuid not null references administrators on delete cascade,
  last_used_at timestamptz not null default now()
);
create index known_devices_by_administrator on known_devices (administrator_id, last_used_at desc);

-- Only the hash of the token, as with sessions.
create table one_time_tokens (
  token_sha256 bytea primary key,
  purpose text not null,
  administrator_id uuid references administrators on delete cascade,
  ends_at timestamptz not null
);
create index one_time_tokens_by_administrator on one_time_tokens (administrator_id);

alter table admin_sessions
  add column session_id bigint generated always as identity unique,
  add column address text not null default '',
  add column browser text not null default '',
  -- When the administrator last proved who they are.
  add column confirmed_at timestamptz not null default now(),
  add column is_oidc boolean not null default false;

-- Links that show the live screen of one event, for screens in a hall.
create table screen_links (
  screen_id bigint primary key generated always as identity,
  token_sha256 bytea not null unique,
  organization_id uuid not null,
  event_id uuid not null,
  name text not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  ends_at timestamptz not null,
  revoked_at timestamptz,
  last_seen_at timestamptz
);
create index screen_links_by_organization on screen_links (organization_id, screen_id);

-- A second factor: the secret in base 32, one that is being set up, and the last time step whose code was used.
alter table administrators
  add column totp_secret text,
  add column totp_candidate text,
  add column totp_used_step bigint not null default 0;
create table recovery_codes (
  administrator_id uuid not null references administrators on delete cascade,
  code_sha256 bytea not null,
  primary key (administrator_id, code_sha256)
);

-- For everyone who may write the table; its owner could remove the trigger (docs/operations.md, Database roles).
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit entries cannot be changed or deleted';
end
$$;
create trigger audit_entries_are_final before update or delete or truncate on audit_entries
for each statement execute function refuse_audit_change();
`.execute(db)
}
