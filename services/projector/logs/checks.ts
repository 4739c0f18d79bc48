import { setTimeout as sleep } from 'node:timers/promises'
import {
  type JudgedLog,
  judgeLogs,
  partitionKey,
  skipHint,
  type TopicPartition,
  UndecodableBatchError,
} from '@tally/kafka'
import { beginAtLogStart, type StoredLog } from '@tally/offsets'
import type { LogState, LogsDeps, Stalls } from './state.ts'

/** When to judge a refused partition again; a new leader may not be ready yet. After that, `tick` does it. */
const judgeAfterMs = [0, 50, 100, 200, 400]

/** Checks of partitions that are being read or held: once a second, and when a broker refuses a fetch. */
export function createChecks(deps: LogsDeps, state: LogState, stalls: Stalls) {
  const { kafka, consumer, onMoved } = deps
  /** Reports a batch that cannot be decoded; returns whether the partition still stands in front of it. */
  const checkUndecodable = async (stored: StoredLog): Promise<boolean> => {
    const { batchErrors } = consumer().state()
    const failed = batchErrors.find(one => partitionKey(one) === partitionKey(stored))
    if (!(failed?.error instanceof UndecodableBatchError)) return false
    const { error } = failed
    if (stored.nextOffset >= error.to) {
      consumer().seek(stored.topic, stored.partition, stored.nextOffset)
      onMoved(stored, stored.nextOffset)
      return false
    }
    const message = `${stored.topic}-${stored.partition} stands still: ${error.message}. ${skipHint(error)}`
    await stalls.begin(stored, { state: 'undecodable', message })
    return true
  }

  /** Holds and reports a partition whose log does not fit; lets one whose log fits continue. */
  const check = async (log: JudgedLog, stored: StoredLog): Promise<void> => {
    if (log.state !== 'ok') {
      state.hold(log)
      // Between the two reads a batch may have been applied, and then deleted by retention.
      const again = await state.readOne(log)
      if (again?.nextOffset === stored.nextOffset) await stalls.begin(log, log)
      return
    }
    await state.accept(log, stored)
    if (await checkUndecodable(stored)) return
    if (state.release(log)) {
      onMoved(log, stored.nextOffset)
      consumer().seek(log.topic, log.partition, stored.nextOffset)
      consumer().resume(log.topic, log.partition)
    }
    if (stalls.of(log) ?? stored.stall) await stalls.end(log)
  }

  /** Judges one held partition. Returns false if another attempt may help. */
  const judgeAgain = async (of: TopicPartition): Promise<boolean> => {
    const refused = state.checkedOf(of)
    const stored = await state.readOne(of)
    if (stored === undefined) return true
    const [log] = await judgeLogs(kafka, [stored])
    const isRefused = log?.topicId === refused?.topicId && log?.leaderEpoch === refused?.leaderEpoch
    if (log === undefined || (log.state === 'ok' && isRefused)) return false
    if (state.isMine(of)) await check(log, stored)
    return true
  }

  return {
    /**
     * For ConsumeOptions.onRefused: the session already holds the partition. Judges it at once, so that a new leader
     * whose log fits is read without waiting for the next tick.
     */
    async refused(of: TopicPartition): Promise<void> {
      state.noteHeld(of)
      for (const ms of judgeAfterMs) {
        if (ms > 0) await sleep(ms, undefined, { ref: false })
        if (!state.isHeld(of) || (await judgeAgain(of).catch(() => false))) return
      }
    },

    /** Compares all assigned partitions with Kafka; the caller repeats it. Throws if a part does not answer. */
    async tick(): Promise<void> {
      const judged = await judgeMine(
        deps,
        state,
        (position, log) =>
          state.isHeld(position) || state.checkedOf(position)?.leaderEpoch !== log.leaderEpoch,
      )
      for (const [row, log] of judged) if (log !== undefined && state.isMine(log)) await check(log, row)
    },
  }
}

/**
 * The stored positions of the assigned partitions, each with its judged log; undefined if its leader does not answer. A
 * partition that was never read first moves to the start of its log, at its assignment or when its leader answers.
 */
export async function judgeMine(
  deps: LogsDeps,
  state: LogState,
  doubted?: Parameters<typeof judgeLogs>[2],
): Promise<Map<StoredLog, JudgedLog | undefined>> {
  const { kafka, db, metrics, logger } = deps
  const stored = await state.readMine()
  const logs = new Map((await judgeLogs(kafka, stored, doubted)).map(log => [partitionKey(log), log]))
  const judged = new Map(stored.map(row => [row, logs.get(partitionKey(row))]))
  const isUnread = (row: StoredLog) =>
    row.nextOffset === 0 && row.topicId === null && state.checkedOf(row) === undefined
  const unread = [...judged].flatMap(([row, log]) => (log?.state === 'gap' && isUnread(row) ? [log] : []))
  if (unread.length === 0) return judged
  for (const { topic, partition, start } of await beginAtLogStart(db, unread)) {
    metrics.lateStarts.inc({ topic, partition: String(partition) })
    logger.warn(
      { topic, partition, start },
      'the log begins above offset 0; reading from its start: what was deleted before is not counted',
    )
  }
  return judgeMine(deps, state, doubted)
}
