import { keyOf, type Partition } from '@tally/projection'
import { clearStall, noteStall, type StallState } from '@tally/read-models'
import type { Logger } from '@tally/runtime'
import type { Postgres } from '@tally/storage'
import type { ProjectorMetrics } from '../metrics.ts'

export type Stalled = { state: StallState; message: string }

type Parts = { db: Postgres; metrics: Pick<ProjectorMetrics, 'stalled'>; logger: Logger }

/**
 * Reports partitions that stand still everywhere at once: with an error in the log when it begins, a metric, the text
 * for `/readyz`, and a row in Postgres for the commands and the operations page.
 */
export function openStalls({ db, metrics, logger }: Parts) {
  const stalls = new Map<string, Partition & Stalled & { isNoted: boolean }>()
  const labels = ({ topic, partition }: Partition, state: StallState) => ({
    topic,
    partition: String(partition),
    state,
  })
  const forget = (of: Partition): void => {
    const before = stalls.get(keyOf(of))
    if (before) metrics.stalled.remove(labels(of, before.state))
    stalls.delete(keyOf(of))
  }

  return {
    of: (of: Partition): Stalled | undefined => stalls.get(keyOf(of)),

    /** One sentence or two for each partition that stands still. */
    messages: (): string[] => [...stalls.values()].map(({ message }) => message),

    /** Reports a partition that stands still; repeated calls only retry the row if Postgres failed before. */
    async begin({ topic, partition }: Partition, { state, message }: Stalled): Promise<void> {
      const of = { topic, partition }
      const before = stalls.get(keyOf(of))
      const isKnown = before?.message === message
      if (isKnown && before.isNoted) return
      if (!isKnown) {
        forget(of)
        logger.error({ ...of, state }, message)
        metrics.stalled.set(labels(of, state), 1)
      }
      stalls.set(keyOf(of), { ...of, state, message, isNoted: false })
      await noteStall(db, of, { state, message })
      stalls.set(keyOf(of), { ...of, state, message, isNoted: true })
    },

    /** The partition continues. */
    async end(of: Partition): Promise<void> {
      await clearStall(db, of)
      if (stalls.has(keyOf(of)))
        logger.info({ topic: of.topic, partition: of.partition }, 'the partition goes on')
      forget(of)
    },

    /** Forgets partitions that now belong to others. */
    keep(assigned: Partition[]): void {
      const mine = new Set(assigned.map(keyOf))
      for (const stalled of [...stalls.values()]) if (!mine.has(keyOf(stalled))) forget(stalled)
    },
  }
}
export type Stalls = ReturnType<typeof openStalls>
