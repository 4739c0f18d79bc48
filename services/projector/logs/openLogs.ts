import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Assignment,
  type Consumer,
  type JudgedLog,
  judgeLogs,
  type KafkaConnection,
  LogChangedError,
  type LogIdentity,
  logEnds,
  partitionKey,
  type StartOffsets,
  skipHint,
  type TopicPartition,
  UndecodableBatchError,
} from '@tally/kafka'
import { beginAtLogStart, ensureOffsets, noteTopicIds, readLogs, type StoredLog } from '@tally/read-models'
import type { Logger } from '@tally/runtime'
import type { Postgres } from '@tally/storage'
import type { ProjectorMetrics } from '../metrics.ts'
import { openStalls } from './stalls.ts'

export type LogsDeps = {
  kafka: KafkaConnection
  db: Postgres
  topics: string[]
  metrics: Pick<ProjectorMetrics, 'stalled' | 'lateStarts'>
  logger: Logger
  /** Called when a partition continues at another offset. */
  onMoved: (of: TopicPartition, next: number) => void
}

/** The identity of the log that was compared with the stored offset; without ids if Kafka gives none. */
type Checked = Partial<LogIdentity>

/** When to judge a refused partition again; a new leader may not be ready yet. After that, `tick` does it. */
const judgeAfterMs = [0, 50, 100, 200, 400]

/**
 * Keeps a projector from applying records of another log than the one that its stored offsets belong to (docs/reliability.md,
 * Kafka). It compares a partition with Kafka on assignment, once a second, and when a broker refuses a fetch: each fetch
 * names the log that was compared. A partition that does not fit is held and reported until `tally offsets` moves its
 * offset or Kafka fits again.
 */
export function openLogs({ kafka, db, topics, metrics, logger, onMoved }: LogsDeps) {
  const stalls = openStalls({ db, metrics, logger })
  const checked = new Map<string, Checked>()
  /** Partitions that are not read until a check succeeds. */
  const held = new Set<string>()
  let assigned: TopicPartition[] = []
  let consumer: Consumer | undefined

  const hold = (of: TopicPartition): void => {
    held.add(partitionKey(of))
    consumer?.hold(of.topic, of.partition)
  }

  const isMine = (of: TopicPartition): boolean =>
    assigned.some(mine => partitionKey(mine) === partitionKey(of))

  const readMine = async (): Promise<StoredLog[]> => (await readLogs(db, topics)).filter(isMine)

  const accept = async (log: JudgedLog, { topicId }: StoredLog): Promise<void> => {
    if (topicId === null && log.topicId !== undefined)
      await noteTopicIds(db, [{ topic: log.topic, partition: log.partition, topicId: log.topicId }])
    const { topicId: id, leaderEpoch } = log
    checked.set(partitionKey(log), {
      ...(id !== undefined && { topicId: id }),
      ...(leaderEpoch !== undefined && { leaderEpoch }),
    })
  }

  /** Starts partitions that were never read at the start of their logs. */
  const begin = async (assignment: Assignment): Promise<void> => {
    for (const [topic, partitions] of assignment) await ensureOffsets(db, topic, partitions)
    const untouched = (await readMine()).filter(
      ({ nextOffset, topicId }) => nextOffset === 0 && topicId === null,
    )
    const logs = await logEnds(kafka, untouched)
    const starts = untouched.flatMap(({ topic, partition }) => {
      const log = logs.get(topic)?.get(partition)
      return log === undefined ? [] : [{ topic, partition, start: log.start }]
    })
    for (const { topic, partition, start } of await beginAtLogStart(db, starts)) {
      metrics.lateStarts.inc({ topic, partition: String(partition) })
      logger.warn(
        { topic, partition, start },
        'the log begins above offset 0; reading from its start: what was deleted before is not counted',
      )
    }
  }

  const checkUndecodable = async (stored: StoredLog): Promise<boolean> => {
    const failed = consumer?.state().batchErrors.find(one => partitionKey(one) === partitionKey(stored))
    if (!(failed?.error instanceof UndecodableBatchError)) return false
    const { error } = failed
    if (stored.nextOffset >= error.to) {
      consumer?.seek(stored.topic, stored.partition, stored.nextOffset)
      onMoved(stored, stored.nextOffset)
      return false
    }
    const message = `${stored.topic}-${stored.partition} stands still: ${error.message}. ${skipHint(error)}`
    await stalls.begin(stored, { state: 'undecodable', message })
    return true
  }

  const check = async (log: JudgedLog, stored: StoredLog): Promise<void> => {
    if (log.state !== 'ok') {
      hold(log)
      // Between the two reads a batch may have been applied, and then deleted by retention.
      const again = (await readMine()).find(one => partitionKey(one) === partitionKey(log))
      if (again?.nextOffset === stored.nextOffset) await stalls.begin(log, log)
      return
    }
    await accept(log, stored)
    if (await checkUndecodable(stored)) return
    if (held.delete(partitionKey(log))) {
      onMoved(log, stored.nextOffset)
      consumer?.seek(log.topic, log.partition, stored.nextOffset)
      consumer?.resume(log.topic, log.partition)
    }
    if (stalls.of(log) ?? stored.stall) await stalls.end(log)
  }

  /** Judges one held partition. Returns false if another attempt may help. */
  const judgeAgain = async (of: TopicPartition): Promise<boolean> => {
    const refused = checked.get(partitionKey(of))
    const stored = (await readMine()).find(one => partitionKey(one) === partitionKey(of))
    if (stored === undefined) return true
    const [log] = await judgeLogs(kafka, [stored])
    const isRefused = log?.topicId === refused?.topicId && log?.leaderEpoch === refused?.leaderEpoch
    if (log === undefined || (log.state === 'ok' && isRefused)) return false
    if (isMine(of)) await check(log, stored)
    return true
  }

  return {
    /** For ConsumeOptions.onAssigned: where to start, and what to hold. */
    async assigned(assignment: Assignment): Promise<StartOffsets> {
      assigned = [...assignment].flatMap(([topic, partitions]) =>
        partitions.map(partition => ({ topic, partition })),
      )
      stalls.keep(assigned)
      await begin(assignment)
      const stored = await readMine()
      const judged = new Map((await judgeLogs(kafka, stored)).map(log => [partitionKey(log), log]))
      const starts: StartOffsets = new Map()
      for (const position of stored) {
        const { topic, partition, nextOffset } = position
        const log = judged.get(partitionKey(position))
        const isRight = log?.state === 'ok'
        if (isRight) {
          held.delete(partitionKey(position))
          await accept(log, position)
          onMoved(position, nextOffset)
          if (position.stall && position.stall.state !== 'undecodable') await stalls.end(position)
        } else {
          held.add(partitionKey(position))
          if (log !== undefined) await stalls.begin(log, log)
        }
        starts.set(topic, (starts.get(topic) ?? new Map()).set(partition, isRight ? nextOffset : 'held'))
      }
      return starts
    },

    /** For ConsumeOptions.identityOf. */
    identityOf: (of: TopicPartition): Partial<LogIdentity> | undefined => checked.get(partitionKey(of)),

    /**
     * For ConsumeOptions.onRefused: the session already holds the partition. Judges it at once, so that a new leader whose
     * log fits is read without waiting for the next tick.
     */
    async refused(of: TopicPartition): Promise<void> {
      held.add(partitionKey(of))
      for (const ms of judgeAfterMs) {
        if (ms > 0) await sleep(ms, undefined, { ref: false })
        if (!held.has(partitionKey(of)) || (await judgeAgain(of).catch(() => false))) return
      }
    },

    /**
     * Throws if a batch was fetched from another log than the one that the stored offset belongs to. A batch that was
     * fetched by name (from Kafka before 3.1) passes.
     */
    verify(batch: TopicPartition & { topicId?: string }): void {
      const expected = checked.get(partitionKey(batch))?.topicId
      if (expected === undefined || batch.topicId === undefined || batch.topicId === expected) return
      throw new LogChangedError(
        `a batch of ${batch.topic}-${batch.partition} was read from the topic with id ${batch.topicId}, but the next offset is that of ${expected}`,
      )
    },

    /** Whether `asOf` may be based on the end of this log. */
    isSound(of: TopicPartition, log: { topicId?: string }): boolean {
      return (
        !held.has(partitionKey(of)) &&
        stalls.of(of) === undefined &&
        checked.get(partitionKey(of))?.topicId === log.topicId
      )
    },

    isHeld: (of: TopicPartition): boolean => held.has(partitionKey(of)),

    /** For ConsumeOptions.onOutOfLog: the session already holds the partition. */
    outOfLog: (of: TopicPartition): void => void held.add(partitionKey(of)),

    /** Why this process is not ready, or undefined. */
    notReady: (): string | undefined => stalls.messages().join(' ') || undefined,

    attach(to: Consumer): void {
      consumer = to
      for (const of of assigned.filter(of => held.has(partitionKey(of)))) to.hold(of.topic, of.partition)
    },

    /** Compares all assigned partitions with Kafka; the caller repeats it. Throws if a part does not answer. */
    async tick(): Promise<void> {
      const stored = new Map((await readMine()).map(row => [partitionKey(row), row]))
      const judged = await judgeLogs(kafka, [...stored.values()], (position, log) => {
        const known = checked.get(partitionKey(position))
        return held.has(partitionKey(position)) || known?.leaderEpoch !== log.leaderEpoch
      })
      for (const log of judged) {
        const row = stored.get(partitionKey(log))
        if (row !== undefined && isMine(log)) await check(log, row)
      }
    },
  }
}
export type Logs = ReturnType<typeof openLogs>
