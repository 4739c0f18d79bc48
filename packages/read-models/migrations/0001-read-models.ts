import { type Kysely, sql } from 'kysely'

/**
 * Every key begins with event_id, so that the tables can be spread by it. No foreign keys: records come in any
 * order. The narrow tables that are updated all the time leave room on their pages (fillfactor), so that
 * an update stays on its page and touches no index.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
-- Begins at the current time in microseconds: revisions of a new database are above those that an older one left in Redis.
do $$ begin
  execute format('create sequence revisions as bigint cache 1 start with %s', (extract(epoch from now()) * 1000000)::bigint);
end $$;

create type order_status as enum ('PreOrder', 'Pending', 'Paid', 'Preparing', 'ReadyForPickup', 'Completed', 'Cancelled');

create table shard_offsets (
  topic text not null,
  partition integer not null,
  next_offset bigint not null default 0,
  revision bigint not null default 0,
  as_of timestamptz,
  primary key (topic, partition)
) with (fillfactor = 50);

create table organizations (
  organization_id uuid primary key,
  version bigint not null,
  name text not null,
  status text not null check (status in ('Trial', 'ActiveDayPass', 'Inactive')),
  revision bigint not null
);

create table event_heads (
  event_id uuid primary key,
  shard integer not null,
  revision bigint not null
) with (fillfactor = 50);
create index event_heads_by_shard on event_heads (shard);

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
create index orders_by_time on orders (event_id, ordered_at desc, order_id desc) where version > 0;

create table refunds (
  event_id uuid not null,
  refund_id text collate "C" not null,
  order_id text collate "C" not null,
  refunded_at bigint not null,
  amount_cents bigint not null,
  lines json not null,
  primary key (event_id, refund_id)
);

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

create table hourly_counters (
  event_id uuid not null,
  day_id integer not null,
  area_id integer not null,
  hour smallint not null,
  orders bigint not null,
  sales_cents bigint not null,
  primary key (event_id, day_id, area_id, hour)
) with (fillfactor = 70);

create table item_counters (
  event_id uuid not null,
  day_id integer not null,
  area_id integer not null,
  menu_item_id integer not null,
  orders bigint not null,
  quantity bigint not null,
  gross_cents bigint not null,
  refunded_quantity bigint not null,
  refunded_cents bigint not null,
  primary key (event_id, day_id, area_id, menu_item_id)
) with (fillfactor = 70);

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
  last_used_at timestamptz
);
create index api_keys_by_organization on api_keys (organization_id);
`.execute(db)
}
