import type { PartitionMap } from '../log/partitionMap.ts'
import type { Assignment, ConsumerState } from '../types.ts'
import type { Claim } from './claim.ts'
import { newPartitions, type PartitionState } from './partitionState.ts'

/** State that outlives one session. */
export type Memory = {
  assignment: Assignment
  /** The assigned partitions. */
  partitions: PartitionMap<PartitionState>
  /** What this process claims when it joins its group again. */
  claim?: Claim | undefined
  joined: boolean
  begun: boolean
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
    lastAnswerAt: Date.now(),
  }
}

export function stateOf(memory: Memory): ConsumerState {
  const batchErrors = memory.partitions
    .values()
    .flatMap(({ topic, partition, error }) => (error ? [{ topic, partition, error }] : []))
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
