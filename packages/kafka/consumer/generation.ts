import type { Logger } from '@tally/runtime'
import { backoffMs, sleepUntil } from '../client/backoff.ts'
import type { Assignment, ConsumeOptions } from '../types.ts'
import type { Memory } from './memory.ts'
import type { Positions } from './positions.ts'
import { openUnexpected } from './unexpected.ts'

/** From one join to the next. `over` is aborted when the partitions are being taken away: start nothing more. */
export type Generation = { over: AbortController; ready: Promise<void>; isReady: boolean }

export type Generations = ReturnType<typeof openGenerations>

type GenerationDeps = { options: ConsumeOptions; memory: Memory; positions: Positions; logger: Logger }

/** The current generation. It is ready once onAssigned has said where its partitions start. */
export function openGenerations({ options, memory, positions, logger }: GenerationDeps) {
  const unexpected = openUnexpected(logger, 'could not find where to begin; trying again')
  let current: Generation = {
    over: new AbortController(),
    ready: new Promise(() => undefined),
    isReady: false,
  }

  const start = async (assignment: Assignment, over: AbortSignal): Promise<void> => {
    for (let failures = 1; !over.aborted; failures++) {
      try {
        const starts = await options.onAssigned?.(assignment)
        if (over.aborted) return
        for (const [topic, partitions] of starts ?? []) {
          for (const [partition, offset] of partitions) {
            if (assignment.get(topic)?.includes(partition)) positions.start(topic, partition, offset)
          }
        }
        memory.assignError = undefined
        return
      } catch (error) {
        memory.assignError = error as Error
        unexpected(error, failures)
        await sleepUntil(backoffMs(failures), over)
      }
    }
  }

  return {
    current: (): Generation => current,

    joined(assignment: Assignment): void {
      current.over.abort()
      memory.assignment = assignment
      memory.joined = true
      memory.begun = false
      memory.kafkaError = undefined
      memory.lastAnswerAt = Date.now()
      positions.restore(assignment)
      const over = new AbortController()
      const begun: Generation = { over, ready: start(assignment, over.signal), isReady: false }
      void begun.ready.then(() => {
        begun.isReady = true
        if (current === begun) memory.begun = true
      })
      current = begun
      logger.info({ assignment: Object.fromEntries(assignment) }, 'joined the consumer group')
    },

    rebalancing(): void {
      memory.joined = false
      current.over.abort()
    },
  }
}
