import type { Logger } from '@tally/platform'
import { isFirstReport } from '../batches/fetchedBatch.ts'
import { backoffMs, createUnexpected, sleepUntil } from '../client/backoff.ts'
import {
  type Assignment,
  type ConsumeOptions,
  partitionKey,
  type RecordBatch,
  type StartOffsets,
} from '../types.ts'
import type { Joined } from './membership.ts'
import { type Memory, newPartitions, type PartitionState, retry, seek, succeeded } from './memory.ts'

/**
 * From one join to the next. `over` is aborted when the partitions are being taken away: start nothing more. `counts`:
 * how many partitions each topic has; others mean that the group has to join again.
 */
export type Generation = { over: AbortController; counts: Map<string, number> | undefined }

type GenerationDeps = { options: ConsumeOptions; memory: Memory; logger: Logger }

/** Begins a generation: its partitions are held until onAssigned has said where they start. */
export function beginGeneration(deps: GenerationDeps, { assignment, counts }: Joined): Generation {
  const { memory, logger } = deps
  Object.assign(memory, {
    assignment,
    partitions: newPartitions(assignment, memory.partitions),
    joined: true,
    begun: false,
    kafkaError: undefined,
    lastAnswerAt: performance.now(),
  } satisfies Partial<Memory>)
  const over = new AbortController()
  // One after the other: the caller keeps what the last call assigned.
  memory.finding = memory.finding.then(() => findStarts(deps, assignment, over.signal))
  logger.info({ assignment: Object.fromEntries(assignment) }, 'joined the consumer group')
  return { over, counts }
}

async function findStarts(
  { options, memory, logger }: GenerationDeps,
  assignment: Assignment,
  over: AbortSignal,
): Promise<void> {
  const unexpected = createUnexpected(logger, 'could not find where to begin; trying again')
  for (let failures = 1; !over.aborted; failures++) {
    try {
      const starts = await options.onAssigned(assignment)
      if (over.aborted) return
      start(memory, starts)
      memory.assignError = undefined
      memory.begun = true
      return
    } catch (error) {
      memory.assignError = error as Error
      unexpected(error, failures)
      await sleepUntil(backoffMs(failures), over)
    }
  }
}

function start({ partitions }: Memory, starts: StartOffsets): void {
  for (const [topic, offsets] of starts) {
    for (const [partition, offset] of offsets) {
      const of = partitions.get(partitionKey({ topic, partition }))
      if (of === undefined || offset === 'held') continue
      seek(of, offset)
      of.isHeld = false
    }
  }
}

/** A fetch of one partition: the generation and the number of seeks at the time when it arrived. */
type Fetch = { state: PartitionState; generation: Generation; seeks: number; from: number }

export type ProcessDeps = {
  options: ConsumeOptions
  isCurrent(generation: Generation): boolean
  commit(of: PartitionState, next: number): void
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
  if (isGone(of) || isOutdated(of)) return
  begun()
  const { state, generation } = of
  let { from } = of
  try {
    for await (const batch of batches) {
      const next = await deps.options.onBatch(batch, { isStale: () => isGone(of) })
      succeeded(state)
      if (!deps.isCurrent(generation)) return
      deps.commit(state, next)
      if (isOutdated(of)) return
      state.position = next
      if (next !== batch.next) return seek(state, next)
      if (isGone(of)) return
      from = next
    }
  } catch (error) {
    if (deps.isCurrent(generation)) fail(deps.logger, of, from, error as Error)
  }
}

const isGone = ({ generation }: Fetch): boolean => generation.over.signal.aborted

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

/**
 * Work on several partitions: one piece at a time per partition, at most `limit` pieces at a time in all. `work` never
 * rejects.
 */
export function createPartitionQueues(limit: number) {
  const busy = new Set<string>()
  const queued: { partition: string; run: () => void }[] = []
  let idle = Promise.withResolvers<void>()

  /** Whether no work is in progress, and so none queued. */
  const isIdle = (): boolean => busy.size === 0
  const nextIndex = (): number =>
    busy.size < limit ? queued.findIndex(({ partition }) => !busy.has(partition)) : -1

  const next = (): void => {
    for (let index = nextIndex(); index >= 0; index = nextIndex()) queued.splice(index, 1)[0]?.run()
    if (isIdle()) idle.resolve()
  }

  return {
    /** Queues work; returns whether it has begun already. */
    begin(partition: string, work: () => Promise<void>): boolean {
      if (isIdle()) idle = Promise.withResolvers()
      let hasBegun = false
      const run = () => {
        hasBegun = true
        busy.add(partition)
        void work().finally(() => {
          busy.delete(partition)
          next()
        })
      }
      queued.push({ partition, run })
      next()
      return hasBegun
    },
    isBusy: (partition: string): boolean => busy.has(partition),
    isIdle,
    idle: (): Promise<void> => (isIdle() ? Promise.resolve() : idle.promise),
  }
}
