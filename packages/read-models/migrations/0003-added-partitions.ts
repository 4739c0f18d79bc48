import { type Kysely, sql } from 'kysely'

/** Columns that keep the watermarks of answers true while partitions are added to the topics. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table shard_offsets
  add column caught_up_to timestamptz,
  add column published_up_to timestamptz,
  add column is_added boolean not null default false;
update shard_offsets set caught_up_to = as_of;
`.execute(db)
}
