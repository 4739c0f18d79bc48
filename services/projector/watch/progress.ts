import { partitionKey, type TopicPartition } from '@tally/kafka'
import type { PartitionEnd } from '@tally/publication'

/** How many ends are kept per partition: more than the ticks of one batch while the projector keeps up. */
const keptEnds = 64

/**
 * Tracks what keeps `meta.asOf` true (docs/api.md, asOf): the ends of the partitions at times of the database's clock,
 * and the applied offsets. Once everything up to an end is applied, the end is reached, and its time may become the
 * watermark of that partition. A projector that is behind or gone reaches nothing.
 */
export type PartitionProgress = {
  /** Everything of the partition before `next` is applied; of no effect if more is already. */
  applied(of: TopicPartition, next: number): void
  appliedOf(of: TopicPartition): number | undefined
  /** A copy of the applied offsets, by partition. */
  appliedNow(): ReadonlyMap<string, number>
  /** The partition is read from `next` on. If more was applied (Postgres lost it), ends recorded before are void. */
  moved(of: TopicPartition, next: number): void
  /**
   * Records ends of partitions as they were at their time or later; of no effect in an epoch that is over. If the
   * database's clock has gone back, earlier ends are dropped: they say nothing about records that arrived since.
   */
  recordEnds(ends: PartitionEnd[], epoch: number): void
  /** Forgets partitions that now belong to others. */
  keep(assigned: TopicPartition[]): void
  /**
   * The latest end of each partition that is reached; ends before it are dropped, and those of another epoch: a standby
   * that took over has a clock of its own, which may be behind.
   */
  reached(epoch: number): PartitionEnd[]
}

export function createProgress(): PartitionProgress {
  const ends = new Map<string, PartitionEnd[]>()
  const applied = new Map<string, number>()
  let lastMs = 0
  let entered = 0

  const enter = (epoch: number): void => {
    if (epoch !== entered) ends.clear()
    entered = epoch
  }

  const recordEnd = (end: PartitionEnd): void => {
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
    recordEnds(found, epoch) {
      if (epoch < entered) return
      enter(epoch)
      const atMs = found[0]?.atMs ?? lastMs
      if (atMs < lastMs) ends.clear()
      lastMs = atMs
      found.forEach(recordEnd)
    },
    keep(assigned) {
      const mine = new Set(assigned.map(partitionKey))
      for (const known of [...ends.keys(), ...applied.keys()].filter(known => !mine.has(known))) {
        ends.delete(known)
        applied.delete(known)
      }
    },
    reached(epoch) {
      enter(epoch)
      return [...ends].flatMap(([partition, recorded]) => {
        const index = recorded.findLastIndex(({ end }) => end <= (applied.get(partition) ?? -1))
        if (index < 0) return []
        ends.set(partition, recorded.slice(index))
        return recorded.slice(index, index + 1)
      })
    },
  }
}
