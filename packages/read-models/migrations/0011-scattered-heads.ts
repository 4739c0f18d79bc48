import { type Kysely, sql } from 'kysely'

/**
 * Finds a shard's scattered events without a scan of those of all shards: their highest revision is read for every
 * partition in each round of the watch (offsets/reader.ts, requiredRevision). The revision itself is not in the index,
 * because then no update of a head would be HOT.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
create index event_heads_scattered_by_shard on event_heads (shard) where is_scattered;
drop index event_heads_scattered;
`.execute(db)
}
