import { type Kysely, sql } from 'kysely'

/**
 * The schema of 0.2.0. Every key of records and counters begins with event_id, so that the tables can be spread by it.
 * No foreign keys between them: records come in any order. The narrow tables that are updated all the time leave room
 * on their pages (fillfactor), so that an update stays on its page and touches no index.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const part of [revisions, offsets, records, counters, keys, operations, accounts, audit])
    await part.execute(db)
}

/**
 * Postgres may come back without its last commits. An epoch is the life of one running server: everything written in an
 * epoch carries a higher revision than any that an earlier epoch handed out (docs/architecture.md, When Postgres or
 * Redis goes back).
 */
const revisions = sql`
-- Begins at the current time in microseconds: revisions of a new database are above those that an older one left in Redis.
do $$ begin
  execute format('create sequence revisions as bigint cache 1 start with %s', (extract(epoch from now()) * 1000000)::bigint);
end $$;

create table epochs (
  is_only boolean primary key default true check (is_only),
  server text not null,
  epoch bigint not null
);

-- The running server: its start, and the timeline, which a promotion changes without a restart.
create function running_server() returns text language sql as $$
select extract(epoch from pg_postmaster_start_time())::text || ' ' ||
  case when pg_is_in_recovery() then 'standby' else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end
$$;

-- The epoch of the running server; null until a connection that may write has opened it.
create function current_epoch() returns bigint language sql as $$
select epoch from epochs where server = running_server()
$$;

-- Called by each new connection before it is used. Returns the epoch of the running server, which is at least seen_epoch,
-- and opens it first if needed: then the sequence of revisions continues above the clock in microseconds, above
-- seen_revision, and above everything that this database handed out.
create function open_epoch(seen_epoch bigint, seen_revision bigint) returns bigint language plpgsql as $$
declare
  opened bigint;
begin
  select epoch into opened from epochs, revisions
  where server = running_server() and epoch >= seen_epoch and last_value >= seen_revision;
  if found then
    return opened;
  end if;
  perform pg_advisory_xact_lock(hashtext('tally epochs'));
  select epoch into opened from epochs, revisions
  where server = running_server() and epoch >= seen_epoch and last_value >= seen_revision;
  if found then
    return opened;
  end if;
  select greatest((extract(epoch from clock_timestamp()) * 1000000)::bigint, last_value + 1, seen_epoch + 1, seen_revision + 1)
  into opened from revisions;
  perform setval('revisions', opened);
  insert into epochs (server, epoch) values (running_server(), opened)
  on conflict (is_only) do update set server = excluded.server, epoch = excluded.epoch;
  return opened;
end
$$;`

/** How far each partition is applied, from which log, and whether it stands still. */
const offsets = sql`
create table shard_offsets (
  topic text not null,
  partition integer not null,
  next_offset bigint not null default 0,
  revision bigint not null default 0,
  is_added boolean not null default false,
  -- SHA-256 of the last record that was applied, and its offset.
  fingerprint bytea,
  fingerprint_offset bigint,
  primary key (topic, partition)
) with (fillfactor = 50);

-- In a table of its own, so that raising watermarks does not wait for the row locks of batches.
create table shard_watermarks (
  topic text not null,
  partition integer not null,
  as_of timestamptz,
  caught_up_to timestamptz,
  published_up_to timestamptz,
  primary key (topic, partition)
) with (fillfactor = 50);

-- In a table of its own, so that noting a partition that stands still never waits for the row lock of a batch.
create table partition_logs (
  topic text not null,
  partition integer not null,
  topic_id text,
  state text check (state in ('gap', 'recreated', 'undecodable')),
  since timestamptz,
  message text,
  primary key (topic, partition),
  check ((state is null) = (message is null) and (state is null) = (since is null))
);`

const records = sql`
create type order_status as enum ('PreOrder', 'Pending', 'Paid', 'Preparing', 'ReadyForPickup', 'Completed', 'Cancelled');

create table organizations (
  organization_id uuid primary key,
  version bigint not null,
  name text not null,
  status text not null check (status in ('Trial', 'ActiveDayPass', 'Inactive')),
  revision bigint not null
);

-- An event keeps its first shard; one that a batch of another partition touched is scattered. The mark is_removed makes
-- projectors ignore further records. Events that have not changed for long expire in Redis.
create table event_heads (
  event_id uuid primary key,
  shard integer not null,
  revision bigint not null,
  is_scattered boolean not null default false,
  is_removed boolean not null default false,
  changed_at timestamptz not null default now()
) with (fillfactor = 50);
-- Read page by page when Redis is compared with Postgres.
create index event_heads_by_shard_and_id on event_heads (shard, event_id);
-- The revision itself is not in the index, because then no update of a head would be HOT.
create index event_heads_scattered_by_shard on event_heads (shard) where is_scattered;

create table events (
  event_id uuid primary key,
  organization_id uuid not null,
  version bigint not null,
  time_zone text not null,
  document json not null
);
create index events_by_organization on events (organization_id);

create table orders (
  event_id uuid not null,
  order_id text collate "C" not null,
  version bigint not null,
  status order_status,
  day_id integer,
  area_id integer,
  ordered_at bigint,
  display_number text,
  payment_method text,
  paid_cents bigint,
  total_cents bigint,
  takeaway boolean,
  table_number text,
  lines json,
  refunded_cents bigint not null default 0,
  refunded_lines json,
  primary key (event_id, order_id)
) with (fillfactor = 85);
-- With a predicate on the version, which updates change, no update would be HOT.
create index orders_by_time on orders (event_id, ordered_at desc, order_id desc) where ordered_at is not null;

create table refunds (
  event_id uuid not null,
  refund_id text collate "C" not null,
  order_id text collate "C" not null,
  refunded_at bigint not null,
  amount_cents bigint not null,
  lines json not null,
  primary key (event_id, refund_id)
);

-- What "tally events remove" removed, for good.
create table removed_events (
  event_id uuid primary key,
  organization_id uuid,
  removed_at timestamptz not null default now(),
  emptied_at timestamptz
);
create index removed_events_not_empty on removed_events (event_id) where emptied_at is null;`

const counters = sql`
create table daily_counters (
  event_id uuid not null,
  day_id integer not null,
  area_id integer not null,
  pre_order bigint not null,
  pending bigint not null,
  paid bigint not null,
  preparing bigint not null,
  ready_for_pickup bigint not null,
  completed bigint not null,
  cancelled bigint not null,
  sales_cents bigint not null,
  items_sold bigint not null,
  primary key (event_id, day_id, area_id)
) with (fillfactor = 70);

-- From 2023 on a bucket is a quarter of an hour, from 1980 on the first minute of one or its rest. Area 0 is all areas.
create table hourly_counters (
  event_id uuid not null,
  day_id integer not null,
  area_id integer not null,
  bucket bigint not null,
  orders bigint not null,
  sales_cents bigint not null,
  primary key (event_id, day_id, area_id, bucket)
) with (fillfactor = 70);

-- Indexes start at 1, and no number is null: null plus a number is null.
create domain sixteen_counts as bigint[] not null
check (array_lower(value, 1) = 1 and cardinality(value) = 16 and array_position(value, null) is null);

-- Sixteen menu items in one row: most of what a batch cost Postgres was finding and writing thousands of rows.
create table item_counters (
  event_id uuid not null,
  day_id integer not null,
  area_id integer not null,
  block integer not null,
  orders sixteen_counts,
  quantity sixteen_counts,
  gross_cents sixteen_counts,
  refunded_quantity sixteen_counts,
  refunded_cents sixteen_counts,
  primary key (event_id, day_id, area_id, block)
) with (fillfactor = 70);
-- No query searches by them, and to sort samples of them took autovacuum 2 s a minute.
alter table item_counters
  alter column orders set statistics 0,
  alter column quantity set statistics 0,
  alter column gross_cents set statistics 0,
  alter column refunded_quantity set statistics 0,
  alter column refunded_cents set statistics 0;

create table order_slots (
  event_id uuid not null,
  slot integer not null,
  day_id integer not null,
  area_id integer not null,
  pre_order integer not null,
  pending integer not null,
  paid integer not null,
  preparing integer not null,
  ready_for_pickup integer not null,
  completed integer not null,
  cancelled integer not null,
  primary key (event_id, slot, day_id, area_id)
) with (fillfactor = 70);`

/**
 * A key carries the id of the transaction that changed it last: a change that a snapshot does not see has a transaction
 * id of at least the snapshot's xmin. With a counter in one row, each change would block all others until it commits.
 */
const keys = sql`
create table api_keys (
  key_id text primary key,
  secret_sha256 bytea not null,
  organization_id uuid not null,
  name text not null,
  scopes text[] not null,
  event_id uuid,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  changed_by bigint not null default 0
);
create index api_keys_by_organization on api_keys (organization_id);
create index api_keys_by_change on api_keys (changed_by);

create function note_api_key_change() returns trigger language plpgsql as $$
begin
  new.changed_by := pg_current_xact_id()::text::bigint;
  return new;
end
$$;
-- Not for last_used_at, which is written all the time.
create trigger api_key_changes
before insert or update of key_id, secret_sha256, organization_id, name, scopes, event_id, created_at, expires_at, revoked_at
on api_keys for each row execute function note_api_key_change();

-- Tally never deletes a key, but an operator may.
create table api_key_deletions (
  is_only boolean primary key default true check (is_only),
  deletions bigint not null default 0
);
insert into api_key_deletions default values;
create function count_api_key_deletion() returns trigger language plpgsql as $$
begin
  update api_key_deletions set deletions = deletions + 1;
  return null;
end
$$;
create trigger api_key_deletions after delete or truncate on api_keys
for each statement execute function count_api_key_deletion();`

/** Tables of the platform team's commands: which dead letters were replayed, and how far a rebuild has come. */
const operations = sql`
-- A topic that was created again uses the same offsets, and so the same ids of rejected records, a second time.
create table replayed_letters (
  letter_id text,
  started_at timestamptz not null default now(),
  sent_at timestamptz,
  fingerprint bytea not null default '',
  primary key (letter_id, fingerprint)
);

create table rebuilds (
  rebuild_id integer generated always as identity primary key,
  started_at timestamptz not null default now(),
  last_event_id uuid,
  finished_at timestamptz
);`

/** The administration area. Of every token only the hash is stored: reading these tables does not allow to sign in. */
const accounts = sql`
create table administrators (
  administrator_id uuid primary key default gen_random_uuid(),
  organization_id uuid not null,
  email text not null unique check (email = lower(email)),
  password_hash text not null,
  is_platform boolean not null default false,
  oidc_subject text,
  created_at timestamptz not null default now(),
  -- A second factor: the secret, encrypted, one that is being set up, and the last time step whose code was used.
  totp_secret text,
  totp_candidate text,
  totp_used_step bigint not null default 0,
  enrol_until timestamptz default now() + interval '24 hours'
);
create table recovery_codes (
  administrator_id uuid not null references administrators on delete cascade,
  code_sha256 bytea not null,
  primary key (administrator_id, code_sha256)
);

create table admin_sessions (
  session_sha256 bytea primary key,
  administrator_id uuid not null references administrators on delete cascade,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  session_id bigint generated always as identity unique,
  address text not null default '',
  browser text not null default '',
  -- When the administrator last proved who they are.
  confirmed_at timestamptz not null default now(),
  is_oidc boolean not null default false
);
create index admin_sessions_by_administrator on admin_sessions (administrator_id);

create table sign_in_attempts (
  subject_sha256 bytea primary key,
  attempts integer not null,
  ends_at timestamptz not null
);

-- Wrong passwords from elsewhere do not count against these browsers (docs/security.md, Sign-in).
create table known_devices (
  device_sha256 bytea primary key,
  administrator_id uuid not null references administrators on delete cascade,
  last_used_at timestamptz not null default now()
);
create index known_devices_by_administrator on known_devices (administrator_id, last_used_at desc);

create table one_time_tokens (
  token_sha256 bytea primary key,
  purpose text not null,
  administrator_id uuid references administrators on delete cascade,
  ends_at timestamptz not null,
  removes_second_factor boolean not null default false
);
create index one_time_tokens_by_administrator on one_time_tokens (administrator_id);

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
create index screen_links_by_organization on screen_links (organization_id, screen_id);`

/** Who did what. Entries of the platform team belong to no organization; none can be changed. */
const audit = sql`
-- The e-mail address at that time: an entry outlives the administrator.
create table audit_entries (
  audit_id bigint generated always as identity primary key,
  organization_id uuid,
  at timestamptz not null default now(),
  email text not null,
  action text not null,
  subject text,
  detail text,
  address text not null
);
create index audit_entries_by_organization on audit_entries (organization_id, audit_id desc);
create index audit_entries_of_platform on audit_entries (audit_id desc) where organization_id is null;

-- For everyone who may write the table; its owner could remove the trigger (docs/install.md, Database roles).
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit entries cannot be changed or deleted';
end
$$;
create trigger audit_entries_are_final before update or delete or truncate on audit_entries
for each statement execute function refuse_audit_change();`
