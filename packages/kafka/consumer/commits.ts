import { openInterval } from '@tally/platform'
import { settled } from '../client/backoff.ts'
import { PartitionMap } from '../log/partitionMap.ts'
import type { Membership } from './membership.ts'

const commitEveryMs = 1_000
const lastCommitMs = 1_000

export type Commits = { add(topic: string, partition: number, next: number): void; close(): Promise<void> }

/**
 * Commits each partition's next offset to Kafka at most once a second, and when closed, so that lag tools see it. The
 * offsets that count are in Postgres, so a commit that fails is dropped: the next one replaces it.
 */
export function commitLater(membership: Membership): Commits {
  const pending = new PartitionMap<number>()
  const flush = async (): Promise<void> => {
    const offsets = pending
      .entries()
      .map(([topic, partition, next]) => ({ topic, partitions: [{ partition, offset: String(next) }] }))
    pending.clear()
    if (offsets.length > 0) await membership.commit(offsets).catch(() => undefined)
  }
  const flushes = openInterval(commitEveryMs, flush, () => {})
  return {
    add: (topic, partition, next) => pending.set(topic, partition, next),
    async close() {
      await settled(flushes.stop().then(flushes.run), lastCommitMs)
    },
  }
}
