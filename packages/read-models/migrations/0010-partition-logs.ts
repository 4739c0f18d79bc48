import { type Kysely, sql } from 'kysely'

/**
 * Stores which log each partition was read from, so that the projector notices a topic that was deleted and created
 * again or a log that was truncated; which partitions stand still; which of several dead letters with one id was
 * replayed; and audit entries of the platform team, which belong to no organization.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
-- SHA-256 of the last record that was applied, and its offset.
alter table shard_offsets
  add column fingerprint bytea,
  add column fingerprint_offset bigint;

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
);

-- A topic that was created again uses the same offsets, and so the same ids of rejected records, a second time.
alter table replayed_letters
  add column fingerprint bytea not null default '',
  drop constraint replayed_letters_pkey,
  add primary key (letter_id, fingerprint);

alter table audit_entries alter column organization_id drop not null;
create index audit_entries_of_platform on audit_entries (audit_id desc) where organization_id is null;
`.execute(db)
}
