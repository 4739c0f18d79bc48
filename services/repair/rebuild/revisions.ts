import type { Postgres, Tx } from '@tally/read-models'
import { sql } from 'kysely'

/**
 * Brings the sequence of revisions to at least the microseconds of now, where a new database begins too: a
 * Postgres that was restored from an older backup would hand out again what Redis has seen already.
 */
export async function raiseRevisions(db: Postgres): Promise<void> {
  await sql`
with now_is as (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as micros)
select setval('revisions', micros) from now_is where micros > (select last_value from revisions)`.execute(db)
}

/**
 * Locks a partition's stored offset and keeps it locked: always before events, as a batch does. A partition that
 * nothing was ever read of has no row, and needs none.
 */
export async function lockPartition(tx: Tx, topic: string, partition: number): Promise<void> {
  await sql`select 1 from shard_offsets where topic = ${topic} and partition = ${partition} for update`.execute(
    tx,
  )
}

/**
 * Says that a revision of this partition is stored: should this process end before it has published what it
 * changed, the projector sees that Redis lacks it and publishes it (design.md, invariant 4).
 */
export async function noteRevision(
  tx: Tx,
  { topic, partition, revision }: { topic: string; partition: number; revision: number },
): Promise<void> {
  await sql`
update shard_offsets set revision = greatest(revision, ${revision}::bigint)
where topic = ${topic} and partition = ${partition}`.execute(tx)
}
