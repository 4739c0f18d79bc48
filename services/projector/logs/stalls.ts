import { partitionKey, type TopicPartition } from '@tally/kafka'
import { clearStall, noteStall, type StallState } from '@tally/offsets'
import type { Logger, Postgres } from '@tally/platform'
import type { ProjectorMetrics } from '../metrics.ts'

export type Stalled = { state: StallState; message: string }

type Deps = { db: Postgres; metrics: Pick<ProjectorMetrics, 'stalled'>; logger: Logger }

/**
 * Reports partitions that stand still everywhere at once: with an error in the log when it begins, a metric, the text
 * for `/readyz`, and a row in Postgres for the commands and the operations page.
 */
export function createStalls({ db, metrics, logger }: Deps) {
  const stalls = new Map<string, TopicPartition & Stalled & { isNoted: boolean }>()
  const labels = ({ topic, partition }: TopicPartition, state: StallState) => ({
    topic,
    partition: String(partition),
    state,
  })
  const forget = (of: TopicPartition): void => {
    const before = stalls.get(partitionKey(of))
    if (before) metrics.stalled.remove(labels(of, before.state))
    stalls.delete(partitionKey(of))
  }

  return {
    of: (of: TopicPartition): Stalled | undefined => stalls.get(partitionKey(of)),

    /** One sentence or two for each partition that stands still. */
    messages: (): string[] => [...stalls.values()].map(({ message }) => message),

    /** Reports a partition that stands still; repeated calls only retry the row if Postgres failed before. */
    async begin({ topic, partition }: TopicPartition, { state, message }: Stalled): Promise<void> {
      const of = { topic, partition }
      const before = stalls.get(partitionKey(of))
      const isKnown = before?.message === message
      if (isKnown && before.isNoted) return
      if (!isKnown) {
        forget(of)
        logger.error({ ...of, state }, message)
        metrics.stalled.set(labels(of, state), 1)
      }
      stalls.set(partitionKey(of), { ...of, state, message, isNoted: false })
      await noteStall(db, of, { state, message })
      stalls.set(partitionKey(of), { ...of, state, message, isNoted: true })
    },

    /** The partition continues. */
    async end(of: TopicPartition): Promise<void> {
      await clearStall(db, of)
      if (stalls.has(partitionKey(of)))
        logger.info({ topic: of.topic, partition: of.partition }, 'the partition goes on')
      forget(of)
    },

    /** Forgets partitions that now belong to others. */
    keep(assigned: TopicPartition[]): void {
      const mine = new Set(assigned.map(partitionKey))
      for (const stalled of [...stalls.values()]) if (!mine.has(partitionKey(stalled))) forget(stalled)
    },
  }
}
export type Stalls = ReturnType<typeof createStalls>
