import { partitionKey, type TopicPartition } from '@tally/kafka'
import type { PartitionEnd } from '@tally/publication'

/** How many ends are kept per partition: more than the ticks of one batch while the projector keeps up. */
const keptEnds = 64

/**
 * Tracks what keeps `meta.asOf` true (docs/api.md, asOf): the ends of the partitions at times of the database's clock,
 * and the applied offsets. Once everything up to an end is applied, the end is reached, and its time may become the
 * watermark of that partition. A projector that is behind or gone reaches nothing.
 */
export type AsOf = {
  /** Everything of the partition before `next` is applied; of no effect if more is already. */
  applied(of: TopicPartition, next: number): void
  appliedOf(of: TopicPartition): number | undefined
  /** A copy of the applied offsets, by partition. */
  appliedNow(): ReadonlyMap<string, number>
  /** The partition is read from `next` on. If more was applied (Postgres has lost it), ends noted before are void. */
  moved(of: TopicPartition, next: number): void
  /** Drops ends of another epoch: a standby that took over has a clock of its own, which may be behind. */
  enter(epoch: number): void
  /**
   * Notes ends of partitions as they were at their time or later; of no effect in another epoch. If the database's
   * clock has gone back, earlier ends are dropped: they say nothing about records that arrived since.
   */
  noteEnds(ends: PartitionEnd[], epoch: number): void
  /** Forgets partitions that now belong to others. */
  keep(assigned: TopicPartition[]): void
  /** The latest end of each partition that is reached; ends before it are dropped. */
  reached(): PartitionEnd[]
}

export function createAsOf(): AsOf {
  const ends = new Map<string, PartitionEnd[]>()
  const applied = new Map<string, number>()
  let lastNotedMs = 0
  let entered = 0

  const noteEnd = (end: PartitionEnd): void => {
    // The first is the last one reached (its age is the freshness) or the oldest that is not reached yet.
    const [first = end, ...others] = [...(ends.get(partitionKey(end)) ?? []), end]
    ends.set(partitionKey(end), [first, ...others.slice(1 - keptEnds)])
  }

  return {
    applied: (of, next) =>
      void applied.set(partitionKey(of), Math.max(next, applied.get(partitionKey(of)) ?? 0)),
    appliedOf: of => applied.get(partitionKey(of)),
    appliedNow: () => new Map(applied),
    moved(of, next) {
      if (next < (applied.get(partitionKey(of)) ?? 0)) ends.delete(partitionKey(of))
      applied.set(partitionKey(of), next)
    },
    enter(epoch) {
      if (epoch !== entered) ends.clear()
      entered = epoch
    },
    noteEnds(noted, epoch) {
      if (epoch !== entered) return
      const atMs = noted[0]?.atMs ?? lastNotedMs
      if (atMs < lastNotedMs) ends.clear()
      lastNotedMs = atMs
      noted.forEach(noteEnd)
    },
    keep(assigned) {
      const mine = new Set(assigned.map(partitionKey))
      for (const known of [...ends.keys(), ...applied.keys()].filter(known => !mine.has(known))) {
        ends.delete(known)
        applied.delete(known)
      }
    },
    reached: () =>
      [...ends].flatMap(([partition, noted]) => {
        const index = noted.findLastIndex(({ end }) => end <= (applied.get(partition) ?? -1))
        if (index < 0) return []
        ends.set(partition, noted.slice(index))
        return noted.slice(index, index + 1)
      }),
  }
}
