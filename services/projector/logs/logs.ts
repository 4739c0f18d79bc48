import {
  type Assignment,
  type KafkaConnection,
  keepsAll,
  type LogIdentity,
  readRetention,
  type StartOffsets,
  type TopicPartition,
} from '@tally/kafka'
import { ensureOffsets } from '@tally/offsets'
import { type Logger, openInterval, partOf } from '@tally/platform'
import type { ProjectorMetrics } from '../metrics.ts'
import { createChecks, judgeMine } from './checks.ts'
import { createLogState, createStalls, type LogsDeps } from './state.ts'

/**
 * Keeps a projector from applying records of another log than the one that its stored offsets belong to
 * (docs/reliability.md, Kafka). It compares a partition with Kafka on assignment, once a second, and when a broker
 * refuses a fetch: each fetch names the log that was compared. A partition that does not fit is held and reported until
 * `tally offsets` moves its offset or Kafka fits again.
 */
export function createLogs(deps: LogsDeps) {
  const { db, metrics, logger, onMoved } = deps
  const state = createLogState(deps)
  const stalls = createStalls({ db, metrics, logger })
  const { refused, tick } = createChecks(deps, state, stalls)

  return {
    /** For ConsumeOptions.onAssigned: where to start, and what to hold. */
    async assigned(assignment: Assignment): Promise<StartOffsets> {
      stalls.keep(state.assign(assignment))
      for (const [topic, partitions] of assignment) await ensureOffsets(db, topic, partitions)
      const starts: StartOffsets = new Map()
      for (const [position, log] of await judgeMine(deps, state)) {
        const { topic, partition, nextOffset } = position
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
    verify: state.verify,
    refused,
    /** For ConsumeOptions.onOutOfLog: the session already holds the partition. */
    outOfLog: state.noteHeld,

    /** Whether `asOf` may be based on the end of this log: a new leader may have cut it below the applied offset. */
    isSound: (of: TopicPartition, log: LogIdentity): boolean => {
      const checked = state.checkedOf(of)
      const isChecked = checked?.topicId === log.topicId && checked.leaderEpoch === log.leaderEpoch
      return isChecked && !state.isHeld(of) && stalls.of(of) === undefined
    },

    isHeld: state.isHeld,
    /** Why this process is not ready, or undefined. */
    notReady: (): string | undefined => stalls.messages().join(' ') || undefined,
    tick,
  }
}
export type Logs = ReturnType<typeof createLogs>

/** How soon a topic that was created again is noticed without new records, and an operator's command takes effect. */
const everyMs = 1_000

type Deps = { logs: Logs; metrics: Pick<ProjectorMetrics, 'failures'>; logger: Logger }

/** Compares the assigned partitions with Kafka once a second. Returns a function that stops it. */
export function watchLogs({ logs, metrics, logger }: Deps): () => Promise<void> {
  const ticks = openInterval(everyMs, logs.tick, error => {
    metrics.failures.inc({ part: partOf(error) })
    logger.debug({ err: error }, 'the logs could not be compared; trying again')
  })
  void ticks.run()
  return ticks.stop
}

/**
 * Warns about each topic whose records Kafka deletes or compacts: a rebuild from Kafka needs all of them, and a record
 * deleted before it is applied is lost (docs/records.md, Topics). Without the right to read topic settings, it logs
 * nothing.
 */
export async function warnOfRetention(
  kafka: KafkaConnection,
  topics: string[],
  logger: Logger,
): Promise<void> {
  try {
    for (const [topic, found] of await readRetention(kafka, topics)) {
      if (found.length === 0) continue
      logger.warn({ topic, settings: found }, `${topic} loses records (${found.join(', ')}): set ${keepsAll}`)
    }
  } catch (error) {
    logger.debug({ err: error }, 'the settings of the topics cannot be read')
  }
}
