import type { Tx } from '@tally/platform'
import { sql } from 'kysely'

/**
 * Locks a partition's stored offset until the transaction ends: always before events, as a batch does. A partition that
 * was never read has no row and needs no lock.
 */
export async function lockPartition(tx: Tx, topic: string, partition: number): Promise<void> {
  await sql`select 1 from shard_offsets where topic = ${topic} and partition = ${partition} for update`.execute(
    tx,
  )
}

/**
 * Stores a revision of this partition: if this process ends before it has published what it
 * changed, the projector notices that Redis lacks it and publishes it (docs/architecture.md, invariant 4).
 */
export async function noteRevision(
  tx: Tx,
  { topic, partition, revision }: { topic: string; partition: number; revision: number },
): Promise<void> {
  await sql`
update shard_offsets set revision = greatest(revision, ${revision}::bigint)
where topic = ${topic} and partition = ${partition}`.execute(tx)
}
