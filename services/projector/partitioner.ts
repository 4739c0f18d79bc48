import { partitionOf } from '@tally/kafka'

/** Finds records in another partition than the standard partitioner would have chosen (docs/records.md, Topics). */
export type PartitionCheck = {
  /** Stores how many partitions each topic has. */
  learn(counts: ReadonlyMap<string, number>): void
  /** Whether one of these keys belongs to another partition of the topic. */
  hasForeign(of: { topic: string; partition: number }, keys: Iterable<string>): boolean
}

export function createPartitionCheck(): PartitionCheck {
  let counts: ReadonlyMap<string, number> = new Map()
  return {
    learn(learnt) {
      counts = learnt
    },
    hasForeign({ topic, partition }, keys) {
      const count = counts.get(topic)
      if (count === undefined) return false
      for (const key of keys) if (partitionOf(Buffer.from(key), count) !== partition) return true
      return false
    },
  }
}
