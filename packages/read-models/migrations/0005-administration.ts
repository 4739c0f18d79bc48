import { type Kysely, sql } from 'kysely'

/** The administration area: who may sign in, who is signed in, sign-in attempts, and who did what. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
create table administrators (
  administrator_id uuid primary key default gen_random_uuid(),
  organization_id uuid not null,
  email text not null unique check (email = lower(email)),
  password_hash text not null,
  is_platform boolean not null default false,
  oidc_subject text,
  created_at timestamptz not null default now()
);

-- Only the hash of the session's token: reading this table does not allow anyone to sign in.
create table admin_sessions (
  session_sha256 bytea primary key,
  administrator_id uuid not null references administrators on delete cascade,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now()
);
create index admin_sessions_by_administrator on admin_sessions (administrator_id);

create table sign_in_attempts (
  subject_sha256 bytea primary key,
  attempts integer not null,
  ends_at timestamptz not null
);

-- The e-mail address at that time: an entry outlives the administrator.
create table audit_entries (
  audit_id bigint generated always as identity primary key,
  organization_id uuid not null,
  at timestamptz not null default now(),
  email text not null,
  action text not null,
  subject text,
  detail text,
  address text not null
);
create index audit_entries_by_organization on audit_entries (organization_id, audit_id desc);
`.execute(db)
}
