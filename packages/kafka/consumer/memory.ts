import { backoffMs } from '../client/backoff.ts'
import { type Assignment, type ConsumerState, partitionKey } from '../types.ts'
import type { Claim } from './assignShards.ts'

/** State that outlives one session. */
export type Memory = {
  assignment: Assignment
  /** The assigned partitions, by their keys. */
  partitions: Map<string, PartitionState>
  /** What this process claims when it joins its group again. */
  claim?: Claim | undefined
  joined: boolean
  begun: boolean
  /** Resolves when onAssigned runs for no generation. */
  finding: Promise<void>
  /** Of `performance.now()`, as all times here: a host's clock may be set. */
  lastAnswerAt: number
  kafkaError?: Error | undefined
  assignError?: Error | undefined
}

export function newMemory(): Memory {
  const assignment: Assignment = new Map()
  return {
    assignment,
    partitions: newPartitions(assignment),
    joined: false,
    begun: false,
    finding: Promise.resolve(),
    lastAnswerAt: performance.now(),
  }
}

export function stateOf(memory: Memory): ConsumerState {
  const batchErrors = [...memory.partitions.values()].flatMap(({ topic, partition, error }) =>
    error ? [{ topic, partition, error }] : [],
  )
  return {
    joined: memory.joined,
    begun: memory.begun,
    lastFetchMs: performance.now() - memory.lastAnswerAt,
    assignment: memory.assignment,
    batchErrors,
    lastError: batchErrors[0]?.error ?? memory.assignError ?? memory.kafkaError,
  }
}

/** How long a partition is not fetched after its broker was not ready to read it, as during an election. */
const refusedMs = 100
/** An election takes less. */
const refusalShowsMs = 30_000

/** Where one assigned partition is read, and why it is not fetched now. */
export type PartitionState = {
  readonly topic: string
  readonly partition: number
  /** The broker that led it when the fetch loops were begun last; it is fetched from there. */
  leader: string | undefined
  /** The offset after the last batch that was processed; with what `next` begins again after a hold. */
  position: number
  /** The offset to fetch next. */
  next: number
  /** Number of seeks: a batch that was fetched before the last one is out of date. */
  seeks: number
  /** Not fetched until the caller resumes it; so before onAssigned has said where it begins. */
  isHeld: boolean
  /** A request for it is under way. */
  isFetching: boolean
  /** A fetched batch of it waits for the one in progress. */
  isWaiting: boolean
  /** Not fetched before this time (of `performance.now()`): a batch has failed, or its broker is not ready. */
  pausedUntilMs: number
  /** Since when its broker has refused it, or it has had no leader. */
  refusedSinceMs: number | undefined
  /** When it last had records: those that had some longest ago are asked for first. */
  servedAtMs: number
  /** Batches that failed in a row, and the error of the last one. */
  failures: number
  error: Error | undefined
  /** Where a fetch brought a batch that cannot be decoded, until a second fetch confirms or refutes it. */
  suspect: number | undefined
}

/** The states of assigned partitions, all held; a partition that was assigned `before` keeps its failures. */
export function newPartitions(
  assignment: Assignment,
  before: Map<string, PartitionState> = new Map(),
): Map<string, PartitionState> {
  const table = new Map<string, PartitionState>()
  for (const [topic, partitions] of assignment) {
    for (const partition of partitions) {
      const key = partitionKey({ topic, partition })
      const { leader, failures = 0, error, suspect } = before.get(key) ?? {}
      table.set(key, {
        topic,
        partition,
        leader,
        position: 0,
        next: 0,
        seeks: 0,
        isHeld: true,
        isFetching: false,
        isWaiting: false,
        pausedUntilMs: 0,
        servedAtMs: 0,
        refusedSinceMs: undefined,
        failures,
        error,
        suspect,
      })
    }
  }
  return table
}

export function seek(of: PartitionState, offset: number): void {
  of.position = offset
  of.next = offset
  of.seeks++
}

export function hold(of: PartitionState): void {
  of.isHeld = true
}

/** Reads on where it stood: batches that were fetched before the hold were dropped. */
export function resume(of: PartitionState): void {
  of.isHeld = false
  of.error = undefined
  seek(of, of.position)
}

/** Reads a batch that failed again after a back-off. */
export function retry(of: PartitionState, from: number): void {
  seek(of, from)
  of.pausedUntilMs = performance.now() + backoffMs(of.failures)
}

/** Delays a partition that cannot be fetched now; an error that lasts shows in the consumer's state. */
export function refusePartition(of: PartitionState, error: Error, { isShownAtOnce = false } = {}): void {
  const nowMs = performance.now()
  of.refusedSinceMs ??= nowMs
  of.pausedUntilMs = nowMs + refusedMs
  if (isShownAtOnce || nowMs - of.refusedSinceMs > refusalShowsMs) of.error = error
}

/** Its broker has answered: without a batch that fails, an error was that of a refusal. */
export function answered(of: PartitionState): void {
  if (of.failures === 0) of.error = undefined
  of.refusedSinceMs = undefined
}

export function succeeded(of: PartitionState): void {
  of.failures = 0
  of.error = undefined
  of.suspect = undefined
}

/** As Consumer.seek: at once, whatever failed before. */
export function seekNow(of: PartitionState, offset: number): void {
  seek(of, offset)
  of.failures = 0
  of.error = undefined
  of.pausedUntilMs = 0
}

export const mayFetch = (of: PartitionState, nowMs: number): boolean =>
  !of.isHeld && !of.isFetching && !of.isWaiting && of.pausedUntilMs <= nowMs
