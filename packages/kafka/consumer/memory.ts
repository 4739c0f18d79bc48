import { OffsetTable } from '../log/offsetTable.ts'
import type { Assignment, ConsumerState } from '../types.ts'
import type { Claim } from './claim.ts'

export type Tuning = {
  maxBytesPerPartition: number
  maxBytes: number
  maxWaitTimeMs: number
  sessionTimeoutMs: number
  heartbeatIntervalMs: number
  rebalanceTimeoutMs: number
  metadataMaxAgeMs: number
  concurrency: number
}

/** State that outlives one kafkajs consumer: the position and the errors of each partition. */
export type Memory = {
  /** Where this process wants to read on: set by results of onBatch and onAssigned, never by Kafka's group. */
  positions: OffsetTable<number>
  batchErrors: OffsetTable<Error>
  failures: OffsetTable<number>
  /** Where a fetch brought a batch that cannot be decoded, until a second fetch confirms or refutes it. */
  suspects: OffsetTable<number>
  /** Partitions that are not fetched until `resume` is called. */
  held: OffsetTable<true>
  /** Number of seeks of each partition: a batch fetched before the last seek is out of date. */
  seeks: OffsetTable<number>
  assignment: Assignment
  /** What this process claims when it joins its group again. */
  claim?: Claim | undefined
  joined: boolean
  begun: boolean
  lastAnswerAt: number
  kafkaError?: Error | undefined
  assignError?: Error | undefined
}

export function newMemory(): Memory {
  return {
    positions: new OffsetTable(),
    batchErrors: new OffsetTable(),
    failures: new OffsetTable(),
    suspects: new OffsetTable(),
    held: new OffsetTable(),
    seeks: new OffsetTable(),
    assignment: new Map(),
    joined: false,
    begun: false,
    lastAnswerAt: Date.now(),
  }
}

export function stateOf(memory: Memory): ConsumerState {
  const batchErrors = memory.batchErrors
    .entries()
    .map(([topic, partition, error]) => ({ topic, partition, error }))
  const lastError = batchErrors[0]?.error ?? memory.assignError ?? memory.kafkaError
  return {
    joined: memory.joined,
    begun: memory.begun,
    lastFetchMs: Date.now() - memory.lastAnswerAt,
    assignment: memory.assignment,
    batchErrors,
    ...(lastError && { lastError }),
  }
}
