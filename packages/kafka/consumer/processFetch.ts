import type { Logger } from '@tally/runtime'
import type { EachBatchPayload } from 'kafkajs'
import { isFirstReport } from '../batches/entries.ts'
import { backoffMs } from '../client/backoff.ts'
import type { ConsumeOptions, RecordBatch } from '../types.ts'
import type { Commits } from './commits.ts'
import type { Generation, Generations } from './generation.ts'
import type { Memory } from './memory.ts'
import type { Positions } from './positions.ts'

/** A fetch of one partition: the generation and the number of seeks at the time when it arrived. */
export type Fetch = { topic: string; partition: number; generation: Generation; seeks: number }

type ProcessDeps = {
  options: ConsumeOptions
  memory: Memory
  positions: Positions
  generations: Generations
  commits: Commits
  heartbeat: () => Promise<void>
  closing: AbortSignal
  logger: Logger
}

/**
 * Returns a function that passes the batches of a fetch to onBatch, unless the partition was taken away, held or sought
 * since the fetch. It calls `begun` when it starts with the first one. If a batch fails, the partition is read again
 * from that batch after a back-off; if it cannot be decoded, it is fetched again at once before that counts as a
 * failure.
 */
export function openProcess(deps: ProcessDeps) {
  const { options, memory, positions, generations, commits, heartbeat, closing, logger } = deps
  const isGone = ({ generation }: Fetch): boolean => generation.over.signal.aborted || closing.aborted
  const isOutdated = ({ topic, partition, seeks }: Fetch): boolean =>
    memory.held.get(topic, partition) === true || positions.seeksOf(topic, partition) !== seeks

  const processBatches = async (of: Fetch, batches: AsyncIterable<RecordBatch>, firstOffset: number) => {
    const { topic, partition, generation } = of
    let from = firstOffset
    try {
      for await (const batch of batches) {
        const next = await options.onBatch(batch, { heartbeat, isStale: () => isGone(of) })
        memory.batchErrors.delete(topic, partition)
        memory.failures.delete(topic, partition)
        memory.suspects.delete(topic, partition)
        if (generations.current() !== generation) return
        commits.add(topic, partition, next)
        if (isOutdated(of)) return
        memory.positions.set(topic, partition, next)
        if (next !== batch.next) return positions.seek(topic, partition, next)
        if (isGone(of)) return
        from = next
      }
    } catch (error) {
      fail(of, from, error as Error)
    }
  }

  const fail = (of: Fetch, from: number, error: Error): void => {
    const { topic, partition, generation } = of
    if (generations.current() !== generation) return
    if (isFirstReport(error, memory.suspects.get(topic, partition))) {
      memory.suspects.set(topic, partition, error.from)
      logger.debug({ err: error, topic, partition, from }, 'a batch cannot be decoded; fetching it again')
      if (!isOutdated(of)) positions.seek(topic, partition, from)
      return
    }
    const failures = (memory.failures.get(topic, partition) ?? 0) + 1
    memory.failures.set(topic, partition, failures)
    memory.batchErrors.set(topic, partition, error)
    logger.debug({ err: error, topic, partition, from, failures }, 'a batch failed; trying it again')
    if (!isOutdated(of)) positions.retry(topic, partition, from, backoffMs(failures))
  }

  return async (
    of: Fetch,
    payload: EachBatchPayload,
    batches: AsyncIterable<RecordBatch>,
    begun: () => void,
  ): Promise<void> => {
    const { generation } = of
    // Only before the start: each race leaves its listeners behind for as long as the generation lasts.
    if (!generation.isReady)
      await Promise.race([generation.ready, aborted(generation.over.signal), aborted(closing)])
    if (isGone(of) || payload.isStale() || isOutdated(of)) return
    payload.resolveOffset(payload.batch.lastOffset())
    begun()
    await processBatches(of, batches, Number(payload.batch.firstOffset()))
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return signal.aborted
    ? Promise.resolve()
    : new Promise(resolve => signal.addEventListener('abort', () => resolve()))
}
