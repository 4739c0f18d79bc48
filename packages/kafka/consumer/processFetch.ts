import type { Logger } from '@tally/platform'
import { isFirstReport } from '../batches/entries.ts'
import type { ConsumeOptions, RecordBatch } from '../types.ts'
import type { Generation } from './generation.ts'
import { type PartitionState, retry, seek, succeeded } from './partitionState.ts'

/** A fetch of one partition: the generation and the number of seeks at the time when it arrived. */
export type Fetch = { state: PartitionState; generation: Generation; seeks: number; from: number }

export type ProcessDeps = {
  options: ConsumeOptions
  isCurrent(generation: Generation): boolean
  commit(of: PartitionState, next: number): void
  closing: AbortSignal
  logger: Logger
}

/**
 * Passes the batches of a fetch to onBatch, unless the partition was taken away, held or sought since the fetch. It
 * calls `begun` when it starts with the first one. If a batch fails, the partition is read again from that batch after
 * a back-off; if it cannot be decoded, it is fetched again at once before that counts as a failure.
 */
export async function processFetch(
  deps: ProcessDeps,
  of: Fetch,
  batches: AsyncIterable<RecordBatch>,
  begun: () => void,
): Promise<void> {
  if (isGone(deps, of) || isOutdated(of)) return
  begun()
  const { state, generation } = of
  let { from } = of
  try {
    for await (const batch of batches) {
      const next = await deps.options.onBatch(batch, { isStale: () => isGone(deps, of) })
      succeeded(state)
      if (!deps.isCurrent(generation)) return
      deps.commit(state, next)
      if (isOutdated(of)) return
      state.position = next
      if (next !== batch.next) return seek(state, next)
      if (isGone(deps, of)) return
      from = next
    }
  } catch (error) {
    if (deps.isCurrent(generation)) fail(deps.logger, of, from, error as Error)
  }
}

const isGone = ({ closing }: ProcessDeps, { generation }: Fetch): boolean =>
  generation.over.signal.aborted || closing.aborted

const isOutdated = ({ state, seeks }: Fetch): boolean => state.isHeld || state.seeks !== seeks

function fail(logger: Logger, of: Fetch, from: number, err: Error): void {
  const { state } = of
  const { topic, partition } = state
  if (isFirstReport(err, state.suspect)) {
    state.suspect = err.from
    logger.debug({ err, topic, partition, from }, 'a batch cannot be decoded; fetching it again')
    if (!isOutdated(of)) seek(state, from)
    return
  }
  state.failures++
  state.error = err
  logger.debug({ err, topic, partition, from, failures: state.failures }, 'a batch failed; trying it again')
  if (!isOutdated(of)) retry(state, from)
}
