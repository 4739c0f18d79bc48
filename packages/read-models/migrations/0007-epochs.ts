import { type Kysely, sql } from 'kysely'

/**
 * Postgres may come back without its last commits. An epoch is the life of one running server: everything written in an
 * epoch carries a higher revision than any that an earlier epoch handed out (docs/architecture.md, When Postgres or
 * Redis goes back). Watermarks get a table of their own, so that raising them does not wait for the row
 * locks of batches.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
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
$$;

create table shard_watermarks (
  topic text not null,
  partition integer not null,
  as_of timestamptz,
  caught_up_to timestamptz,
  published_up_to timestamptz,
  primary key (topic, partition)
) with (fillfactor = 50);
insert into shard_watermarks
select topic, partition, as_of, caught_up_to, published_up_to from shard_offsets;
alter table shard_offsets
  drop column as_of,
  drop column caught_up_to,
  drop column published_up_to;

-- An event keeps its first shard; one that a batch of another partition touched says so.
alter table event_heads add column is_scattered boolean not null default false;
create index event_heads_scattered on event_heads (event_id) where is_scattered;

-- Read page by page when Redis is compared with Postgres.
create index event_heads_by_shard_and_id on event_heads (shard, event_id);
drop index event_heads_by_shard;
`.execute(db)
}
