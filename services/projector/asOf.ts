import type { EndMark, PartitionAsOf, Postgres, RedisClient, RedisKeys } from '@tally/read-models'
import { asOfField, raiseAsOf, raisePublished } from '@tally/read-models'
import type { Partition } from './publisher.ts'

/** How many moments are remembered: more than a batch may take in ticks, while the projector keeps up. */
const remembered = 64

/**
 * Keeps `meta.asOf` true (decisions.md, Answers): at a moment the end of each partition is noted, and as soon as
 * everything up to there is applied, that moment is what answers may say. A projector that is behind or gone
 * raises nothing.
 */
export function openAsOf({
  db,
  redis,
  keys,
  topics,
}: {
  db: Postgres
  redis: RedisClient
  keys: RedisKeys
  topics: string[]
}) {
  const marks = new Map<string, EndMark[]>()
  const applied = new Map<string, number>()
  const key = ({ topic, partition }: Partition) => `${topic}:${partition}`

  return {
    /** Everything of the partition before `next` is applied. */
    applied: (of: Partition, next: number) => applied.set(key(of), next),

    appliedOf: (of: Partition) => applied.get(key(of)),

    /** Takes note of an end of the partition, as it was at the mark's moment or later. */
    mark(of: EndMark) {
      const noted = marks.get(key(of)) ?? []
      noted.push(of)
      // The first is the last one reached, whose age is the freshness, or the oldest that is not reached yet.
      const [first, ...others] = noted
      marks.set(key(of), first === undefined ? [] : [first, ...others.slice(1 - remembered)])
    },

    /** Forgets partitions that now belong to others. */
    keep(assigned: Partition[]) {
      const mine = new Set(assigned.map(key))
      for (const known of [...marks.keys(), ...applied.keys()].filter(known => !mine.has(known))) {
        marks.delete(known)
        applied.delete(known)
      }
    },

    /** The latest mark of each partition that is reached; marks before it are dropped. */
    reached(): EndMark[] {
      return [...marks].flatMap(([partition, noted]) => {
        const index = noted.findLastIndex(({ end }) => end <= (applied.get(partition) ?? -1))
        if (index < 0) return []
        marks.set(partition, noted.slice(index))
        return noted.slice(index, index + 1)
      })
    },

    /** Returns what may be said of those partitions. */
    storeInPostgres: (reached: EndMark[]) => raiseAsOf(db, topics, reached),

    /**
     * What Redis may say of the assigned partitions, all of whose moments are published. Where partitions were added that
     * depends on what other projectors have published, too.
     */
    async sayable(assigned: Partition[], published: PartitionAsOf[], hasAdded: boolean) {
      if (!hasAdded) return published
      const asOfMs = await raisePublished(db, topics, published)
      return assigned.map(of => ({ ...of, asOfMs }))
    },

    async storeInRedis(said: (Partition & { asOfMs: number | null })[]) {
      await Promise.all(
        said.map(async ({ topic, partition, asOfMs }) => {
          if (asOfMs !== null) await redis.raise(keys.shard(partition), asOfField(topic), asOfMs)
        }),
      )
    },
  }
}
export type AsOf = ReturnType<typeof openAsOf>
