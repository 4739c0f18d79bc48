import { openInterval } from '@tally/runtime'
import type { Consumer } from 'kafkajs'
import { OffsetTable } from '../log/offsetTable.ts'

const COMMIT_EVERY_MS = 1_000
const LAST_COMMIT_MS = 1_000

export type Commits = { add(topic: string, partition: number, next: number): void; close(): Promise<void> }

/**
 * Tells Kafka where each partition stands, at most once a second and at the end, so that lag tools see it. The truth is
 * in Postgres: a commit that fails is forgotten, the next one says it better.
 */
export function commitLater(consumer: Consumer): Commits {
  const pending = new OffsetTable<number>()
  const flush = async (): Promise<void> => {
    const offsets = pending
      .entries()
      .map(([topic, partition, next]) => ({ topic, partition, offset: String(next) }))
    pending.clear()
    if (offsets.length > 0) await consumer.commitOffsets(offsets).catch(() => undefined)
  }
  const flushes = openInterval(COMMIT_EVERY_MS, flush, () => {})
  return {
    add: (topic, partition, next) => pending.set(topic, partition, next),
    async close() {
      const last = flushes.stop().then(flushes.run)
      await Promise.race([last, new Promise(resolve => setTimeout(resolve, LAST_COMMIT_MS).unref())])
    },
  }
}
