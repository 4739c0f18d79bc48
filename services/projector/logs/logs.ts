import {
  type Assignment,
  judgeLogs,
  LogChangedError,
  partitionKey,
  type StartOffsets,
  type TopicPartition,
} from '@tally/kafka'
import { beginPartitions } from './begin.ts'
import { createChecks } from './checks.ts'
import type { LogsDeps } from './deps.ts'
import { createStalls } from './stalls.ts'
import { createLogState } from './state.ts'

/**
 * Keeps a projector from applying records of another log than the one that its stored offsets belong to
 * (docs/reliability.md, Kafka). It compares a partition with Kafka on assignment, once a second, and when a broker
 * refuses a fetch: each fetch names the log that was compared. A partition that does not fit is held and reported until
 * `tally offsets` moves its offset or Kafka fits again.
 */
export function createLogs(deps: LogsDeps) {
  const { kafka, db, topics, metrics, logger, onMoved } = deps
  const state = createLogState(db, topics)
  const stalls = createStalls({ db, metrics, logger })
  const { refused, tick } = createChecks(deps, state, stalls)

  return {
    /** For ConsumeOptions.onAssigned: where to start, and what to hold. */
    async assigned(assignment: Assignment): Promise<StartOffsets> {
      stalls.keep(state.assign(assignment))
      await beginPartitions(deps, state, assignment)
      const stored = await state.readMine()
      const judged = new Map((await judgeLogs(kafka, stored)).map(log => [partitionKey(log), log]))
      const starts: StartOffsets = new Map()
      for (const position of stored) {
        const { topic, partition, nextOffset } = position
        const log = judged.get(partitionKey(position))
        const isRight = log?.state === 'ok'
        if (isRight) {
          state.release(position)
          await state.accept(log, position)
          onMoved(position, nextOffset)
          if (position.stall && position.stall.state !== 'undecodable') await stalls.end(position)
        } else {
          state.noteHeld(position)
          if (log !== undefined) await stalls.begin(log, log)
        }
        starts.set(topic, (starts.get(topic) ?? new Map()).set(partition, isRight ? nextOffset : 'held'))
      }
      return starts
    },

    /** For ConsumeOptions.identityOf. */
    identityOf: state.checkedOf,
    refused,
    /** For ConsumeOptions.onOutOfLog: the session already holds the partition. */
    outOfLog: state.noteHeld,

    /** Throws if a batch was fetched from another log than the one that the stored offset belongs to. */
    verify(batch: TopicPartition & { topicId?: string }): void {
      const expected = state.checkedOf(batch)?.topicId
      if (expected === undefined || batch.topicId === expected) return
      throw new LogChangedError(
        `a batch of ${batch.topic}-${batch.partition} was read from the topic with id ${batch.topicId}, but the next offset is that of ${expected}`,
      )
    },

    /** Whether `asOf` may be based on the end of this log. */
    isSound: (of: TopicPartition, log: { topicId?: string }): boolean =>
      !state.isHeld(of) && stalls.of(of) === undefined && state.checkedOf(of)?.topicId === log.topicId,

    isHeld: state.isHeld,
    /** Why this process is not ready, or undefined. */
    notReady: (): string | undefined => stalls.messages().join(' ') || undefined,
    attach: state.attach,
    tick,
  }
}
export type Logs = ReturnType<typeof createLogs>
