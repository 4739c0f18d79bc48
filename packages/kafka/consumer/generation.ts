import type { Logger } from '@tally/platform'
import { backoffMs, sleepUntil } from '../client/backoff.ts'
import type { Assignment, ConsumeOptions, StartOffsets } from '../types.ts'
import type { Joined } from './membership.ts'
import type { Memory } from './memory.ts'
import { newPartitions, seek } from './partitionState.ts'
import { createUnexpected } from './unexpected.ts'

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
    lastAnswerAt: Date.now(),
  } satisfies Partial<Memory>)
  const over = new AbortController()
  void findStarts(deps, assignment, over.signal)
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
      const of = partitions.get(topic, partition)
      if (of === undefined || offset === 'held') continue
      seek(of, offset)
      of.isHeld = false
    }
  }
}
