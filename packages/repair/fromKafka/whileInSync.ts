import { partitionKey, type TopicNames } from '@tally/kafka'
import type { Postgres, Tx } from '@tally/platform'
import { sql } from 'kysely'
import type { RepairDeps } from '../deps.ts'
import type { Follower } from './follow.ts'
import { shadowSchema } from './shadow.ts'

/** `locked`: the connection that a rebuild writes through (rebuild/run.ts). */
export type SwitchDeps = RepairDeps & {
  locked: Postgres
  follower: Pick<Follower, 'reach' | 'release'>
  topics: TopicNames
  /** Whether records that the topics do not hold may be removed. */
  mayRemove: boolean
  /** Called once if some will be removed, with how many of which partitions. */
  onRemoving: (what: string) => void
}

type Partitions = { topics: string[]; partitions: number[] }

/** The partitions of some shards: those of events, orders and refunds. */
export const ofShards = ({ topics }: SwitchDeps, shards: number[]): Partitions => ({
  topics: [topics.events, topics.orders, topics.refunds],
  partitions: shards,
})

/**
 * Locks the live offsets of some partitions, at which the live projector waits, has the shadow read exactly up to
 * there, and does `work` in the same transaction. `reached`: these offsets, by partition key.
 */
export async function whileInSync<Result>(
  { locked, follower }: SwitchDeps,
  { topics, partitions }: Partitions,
  work: (tx: Tx, reached: Map<string, number>) => Promise<Result>,
): Promise<Result> {
  try {
    return await locked.transaction().execute(async tx => {
      // The gap between two statements may last as long as reading the last records takes.
      await sql`set local idle_in_transaction_session_timeout = '2min'`.execute(tx)
      const { rows } = await sql<{ topic: string; partition: number; next: number }>`
select topic, partition, next_offset as next
from shard_offsets
where topic = any(${topics}::text[]) and partition = any(${partitions}::int[])
order by topic, partition
for update`.execute(tx)
      const live = new Map(rows.map(({ next, ...of }) => [partitionKey(of), next]))
      return work(tx, await follower.reach(live))
    })
  } finally {
    follower.release()
  }
}

/**
 * Throws if the projector has applied records of other partitions: those that were added meanwhile, which the shadow
 * does not read. What they changed would be overwritten.
 */
export async function requireAllPartitions(tx: Tx, { topics, partitions }: Partitions): Promise<void> {
  const { rows } = await sql`
select from shard_offsets
where topic = any(${topics}::text[]) and partition <> all(${partitions}::int[]) and next_offset > 0
limit 1`.execute(tx)
  if (rows.length > 0)
    throw new Error('partitions were added while the topics were read: run this command again')
}

/**
 * Stores the offsets that the shadow reached, from which the live projector reads on: those it had, unless a topic was
 * created again. Throws if the shadow's offsets are gone, or are not those that were to be reached.
 */
export async function storeReached(
  tx: Tx,
  { topics, partitions }: Partitions,
  reached: Map<string, number>,
): Promise<void> {
  const { rows } = await sql<{ topic: string; partition: number; next: number }>`
update shard_offsets as kept
set next_offset = made.next_offset, fingerprint = made.fingerprint, fingerprint_offset = made.fingerprint_offset
from ${sql.id(shadowSchema, 'shard_offsets')} as made
where made.topic = kept.topic and made.partition = kept.partition
  and kept.topic = any(${topics}::text[]) and kept.partition = any(${partitions}::int[])
returning kept.topic, kept.partition, kept.next_offset as next`.execute(tx)
  // The next projector stores the log's id from Kafka: the topic may have been created again.
  await sql`
delete from partition_logs
where topic = any(${topics}::text[]) and partition = any(${partitions}::int[])`.execute(tx)
  const isReached = rows.every(({ next, ...of }) => reached.get(partitionKey(of)) === next)
  if (rows.length !== reached.size || !isReached) {
    throw new Error('Postgres has lost what was read from the topics (did it crash?): run this command again')
  }
}
