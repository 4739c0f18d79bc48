import type { Consumer } from 'kafkajs'
import { OffsetTable } from '../log/offsetTable.ts'

/**
 * `held`: until the caller resumes it; `retrying`: a batch has failed; `queued`: a fetched batch waits for the one in
 * progress.
 */
type PauseReason = 'held' | 'retrying' | 'queued'

export type Pauses = {
  add(topic: string, partition: number, reason: PauseReason): void
  remove(topic: string, partition: number, reason: PauseReason): void
}

/** Pauses a partition as long as there is at least one reason; kafkajs itself does not count reasons. */
export function openPauses(consumer: Pick<Consumer, 'pause' | 'resume'>): Pauses {
  const reasons = new OffsetTable<Set<PauseReason>>()
  const tell = (what: 'pause' | 'resume', topic: string, partition: number): void => {
    try {
      consumer[what]([{ topic, partitions: [partition] }])
    } catch {
      // kafkajs throws before it has joined and after it has stopped: then it fetches nothing anyway.
    }
  }
  return {
    add(topic, partition, reason) {
      reasons.set(topic, partition, (reasons.get(topic, partition) ?? new Set()).add(reason))
      tell('pause', topic, partition)
    },
    remove(topic, partition, reason) {
      const left = reasons.get(topic, partition)
      if (left?.delete(reason) && left.size === 0) tell('resume', topic, partition)
    },
  }
}
