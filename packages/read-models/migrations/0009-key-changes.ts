import { type Kysely, sql } from 'kysely'

/**
 * Lets a query process ask which API keys changed since it last asked. A key carries the id of the transaction that
 * changed it last: a change that a snapshot does not see has a transaction id of at least the snapshot's xmin. A
 * counter in one row would work too, but each change of a key would block all others until it commits.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table api_keys add column changed_by bigint not null default 0;
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
for each statement execute function count_api_key_deletion();
`.execute(db)
}
