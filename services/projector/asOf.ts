import type { EndMark, Postgres, RedisClient, RedisKeys } from '@tally/read-models'
import { asOfField, raiseAsOf } from '@tally/read-models'
import type { Partition } from './publisher.ts'

/** How many moments are remembered: more than a batch may take in ticks, while the projector keeps up. */
const remembered = 64

/**
 * Keeps `meta.asOf` true (decisions.md, Answers): at a moment the end of each partition is noted, and as soon as
 * everything up to there is applied, that moment is what answers may say. A projector that is behind or gone
 * raises nothing.
 */
export function openAsOf({ db, redis, keys }: { db: Postgres; redis: RedisClient; keys: RedisKeys }) {
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

    storeInPostgres: (reached: EndMark[]) => raiseAsOf(db, reached),

    /** Only after everything applied up to the marks is published. */
    async storeInRedis(reached: EndMark[]) {
      await Promise.all(
        reached.map(({ topic, partition, atMs }) =>
          redis.raise(keys.shard(partition), asOfField(topic), atMs),
        ),
      )
    },
  }
}
export type AsOf = ReturnType<typeof openAsOf>
