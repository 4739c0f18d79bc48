import { partitionKey } from '@tally/kafka'
import type { Tx } from '@tally/storage'
import { sql } from 'kysely'
import type { Follower } from './follow.ts'
import { shadowSchema } from './shadow.ts'

type Meeting = { live: string; topics: string[]; follower: Follower }

/** How long reading the last records may take while the live projector waits. */
export const tailMs = 20_000

/** Locks the live offsets of some partitions until the transaction ends; returns up to where the shadow has to read. */
export async function lockOffsets(
  tx: Tx,
  { topics, follower }: Meeting,
  partitions: number[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ topic: string; partition: number; next_offset: number }>`
select topic, partition, next_offset
from shard_offsets
where topic = any(${topics}::text[]) and partition = any(${partitions}::int[])
order by topic, partition
for update`.execute(tx)
  // Read now: what is applied lies below it, unless the topic was created again.
  const ends = await follower.ends()
  return new Map(
    rows.map(({ topic, partition, next_offset }) => {
      const key = partitionKey({ topic, partition })
      return [key, Math.min(next_offset, ends.get(key) ?? 0)]
    }),
  )
}

/**
 * Stores the offsets that the shadow reached, from which the live projector reads on: those it had, unless a topic was
 * created again. Throws if the shadow's offsets are gone, or are not those that were to be reached.
 */
export async function storeReached(
  tx: Tx,
  { live, topics }: Meeting,
  { partitions, reached }: { partitions: number[]; reached: Map<string, number> },
): Promise<void> {
  const { rows } = await sql<{ topic: string; partition: number; next_offset: number }>`
update ${sql.id(live, 'shard_offsets')} as kept
set next_offset = made.next_offset, fingerprint = made.fingerprint, fingerprint_offset = made.fingerprint_offset
from ${sql.id(shadowSchema, 'shard_offsets')} as made
where made.topic = kept.topic and made.partition = kept.partition
  and kept.topic = any(${topics}::text[]) and kept.partition = any(${partitions}::int[])
returning kept.topic, kept.partition, kept.next_offset`.execute(tx)
  // The next projector stores the log's id from Kafka: the topic may have been created again.
  await sql`
delete from ${sql.id(live, 'partition_logs')}
where topic = any(${topics}::text[]) and partition = any(${partitions}::int[])`.execute(tx)
  const isReached = rows.every(
    ({ topic, partition, next_offset }) => reached.get(partitionKey({ topic, partition })) === next_offset,
  )
  if (rows.length !== reached.size || !isReached) {
    throw new Error('Postgres has lost what was read from the topics (did it crash?): run this command again')
  }
}
