import { partitionKey, type TopicPartition } from '@tally/kafka'
import type { PartitionAsOf, PartitionEnd, RedisKeys, StoredOffset } from '@tally/read-models'
import { asOfField, publishedField, type ReadModelRedis, raiseAsOf, raisePublished } from '@tally/read-models'
import type { Postgres } from '@tally/storage'

/** How many ends are kept per partition: more than the ticks of one batch while the projector keeps up. */
const remembered = 64

/**
 * Keeps `meta.asOf` true (docs/api.md, asOf): the projector notes the end of each partition at a time of the
 * database's clock; once everything up to that end is applied, the time becomes the watermark of that partition. A
 * projector that is behind or gone raises nothing.
 */
export function openAsOf({
  db,
  redis,
  keys,
  topics,
}: {
  db: Postgres
  redis: ReadModelRedis
  keys: RedisKeys
  topics: string[]
}) {
  const marks = new Map<string, PartitionEnd[]>()
  const applied = new Map<string, number>()
  let lastMarkMs = 0

  return {
    /** Everything of the partition before `next` is applied. */
    applied: (of: TopicPartition, next: number) => applied.set(partitionKey(of), next),

    appliedOf: (of: TopicPartition) => applied.get(partitionKey(of)),

    /** A copy of the applied offsets, by partition. */
    appliedNow: (): ReadonlyMap<string, number> => new Map(applied),

    /** Postgres has lost what it had of a partition from `next` on: earlier marks of the partition are void. */
    lost(of: TopicPartition, next: number) {
      applied.set(partitionKey(of), next)
      marks.delete(partitionKey(of))
    },

    /**
     * Notes ends of partitions as they were at the marks' time or later. If the database's clock has gone back, earlier
     * marks are dropped: they say nothing about records that arrived since.
     */
    mark(noted: PartitionEnd[]) {
      const atMs = noted[0]?.atMs ?? lastMarkMs
      if (atMs < lastMarkMs) marks.clear()
      lastMarkMs = atMs
      for (const of of noted) {
        const known = marks.get(partitionKey(of)) ?? []
        known.push(of)
        // The first is the last one reached (its age is the freshness) or the oldest that is not reached yet.
        const [first, ...others] = known
        marks.set(partitionKey(of), first === undefined ? [] : [first, ...others.slice(1 - remembered)])
      }
    },

    /** Forgets partitions that now belong to others. */
    keep(assigned: TopicPartition[]) {
      const mine = new Set(assigned.map(partitionKey))
      for (const known of [...marks.keys(), ...applied.keys()].filter(known => !mine.has(known))) {
        marks.delete(known)
        applied.delete(known)
      }
    },

    /** The latest mark of each partition that is reached; marks before it are dropped. */
    reached(): PartitionEnd[] {
      return [...marks].flatMap(([partition, noted]) => {
        const index = noted.findLastIndex(({ end }) => end <= (applied.get(partition) ?? -1))
        if (index < 0) return []
        marks.set(partition, noted.slice(index))
        return noted.slice(index, index + 1)
      })
    },

    /** Returns the watermarks of those partitions. */
    storeInPostgres: (reached: PartitionEnd[]) => raiseAsOf(db, topics, reached),

    /**
     * The watermarks that may be raised in Redis for the assigned partitions: everything that they claim is published.
     * If partitions were added, they also depend on what other projectors have published.
     */
    async publishable(assigned: StoredOffset[], published: PartitionAsOf[], hasAdded: boolean) {
      if (!hasAdded) return published
      const asOfMs = await raisePublished(db, topics, published)
      const latest = new Map([...assigned, ...published].map(of => [partitionKey(of), of.revision]))
      return assigned.map(of => ({ ...of, asOfMs, revision: latest.get(partitionKey(of)) ?? of.revision }))
    },

    /**
     * Raises the watermarks in Redis that Postgres returned in an epoch. Returns the shards whose hash is in another
     * epoch, with that epoch; for these it raises nothing. `revision`: that of the partition, returned by Postgres with
     * the watermark.
     */
    async storeInRedis(
      said: (TopicPartition & { asOfMs: number | null; revision: number })[],
      { nowMs, epoch }: { nowMs: number; epoch: number },
    ): Promise<Map<number, number>> {
      const others = new Map<number, number>()
      const byShard = Map.groupBy(said, ({ partition }) => partition)
      await Promise.all(
        [...byShard].map(async ([shard, ofShard]) => {
          const fields = ofShard.flatMap(({ topic, asOfMs, revision }) =>
            asOfMs === null ? [] : [asOfField(topic), asOfMs, publishedField(topic), revision],
          )
          const found = await redis.raiseAsOf(keys.shard(shard), epoch, nowMs, ...fields)
          if (found !== epoch) others.set(shard, found)
        }),
      )
      return others
    },
  }
}
export type AsOf = ReturnType<typeof openAsOf>
