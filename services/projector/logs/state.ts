import {
  type Assignment,
  type Consumer,
  type JudgedLog,
  type KafkaConnection,
  LogChangedError,
  type LogIdentity,
  partitionKey,
  type TopicPartition,
} from '@tally/kafka'
import {
  clearStall,
  noteStall,
  noteTopicIds,
  readLogs,
  type StallState,
  type StoredLog,
} from '@tally/offsets'
import type { Logger, Postgres } from '@tally/platform'
import type { ProjectorMetrics } from '../metrics.ts'

/** What a projector knows about the logs of its partitions: which are assigned, which were checked, which are held. */
export function createLogState({ db, topics, consumer }: Pick<LogsDeps, 'db' | 'topics' | 'consumer'>) {
  /** The identity of the log that was compared with the stored offset. */
  const checked = new Map<string, LogIdentity>()
  /** Partitions that are not read until a check succeeds. */
  const held = new Set<string>()
  let assigned: TopicPartition[] = []

  const isMine = (of: TopicPartition): boolean =>
    assigned.some(mine => partitionKey(mine) === partitionKey(of))
  const readMine = async (): Promise<StoredLog[]> => (await readLogs(db, topics)).filter(isMine)

  return {
    assign(assignment: Assignment): TopicPartition[] {
      assigned = assignedPartitions(assignment)
      return assigned
    },
    isMine,

    /** The stored positions of the assigned partitions. */
    readMine,
    readOne: async (of: TopicPartition): Promise<StoredLog | undefined> =>
      (await readMine()).find(one => partitionKey(one) === partitionKey(of)),

    checkedOf: (of: TopicPartition): LogIdentity | undefined => checked.get(partitionKey(of)),

    /** Throws if a batch was fetched from another log than the one that the stored offset belongs to. */
    verify(batch: TopicPartition & { topicId?: string }): void {
      const expected = checked.get(partitionKey(batch))?.topicId
      if (expected === undefined || batch.topicId === expected) return
      throw new LogChangedError(
        `a batch of ${batch.topic}-${batch.partition} was read from the topic with id ${batch.topicId}, but the next offset is that of ${expected}`,
      )
    },

    /** Takes a log as the one that the stored offset belongs to. */
    async accept(log: JudgedLog, { topicId: storedId }: StoredLog): Promise<void> {
      const { topic, partition, topicId, leaderEpoch } = log
      if (storedId === null) await noteTopicIds(db, [{ topic, partition, topicId }])
      checked.set(partitionKey(log), { topicId, leaderEpoch })
    },

    isHeld: (of: TopicPartition): boolean => held.has(partitionKey(of)),
    /** Notes that the session holds the partition, or is about to. */
    noteHeld: (of: TopicPartition): void => void held.add(partitionKey(of)),
    hold(of: TopicPartition): void {
      held.add(partitionKey(of))
      consumer().hold(of.topic, of.partition)
    },
    /** Returns whether it was held; the session still holds it. */
    release: (of: TopicPartition): boolean => held.delete(partitionKey(of)),
  }
}
export type LogState = ReturnType<typeof createLogState>

export const assignedPartitions = (assignment: Assignment): TopicPartition[] =>
  [...assignment].flatMap(([topic, partitions]) => partitions.map(partition => ({ topic, partition })))

type Stalled = { state: StallState; message: string }

type Deps = { db: Postgres; metrics: Pick<ProjectorMetrics, 'stalled'>; logger: Logger }

/**
 * Reports partitions that stand still everywhere at once: with an error in the log when it begins, a metric, the text
 * for `/readyz`, and a row in Postgres for the commands and the operations page.
 */
export function createStalls({ db, metrics, logger }: Deps) {
  const stalls = new Map<string, TopicPartition & Stalled & { isNoted: boolean }>()
  const labels = ({ topic, partition }: TopicPartition, state: StallState) => ({
    topic,
    partition: String(partition),
    state,
  })
  const forget = (of: TopicPartition): void => {
    const before = stalls.get(partitionKey(of))
    if (before) metrics.stalled.remove(labels(of, before.state))
    stalls.delete(partitionKey(of))
  }

  return {
    of: (of: TopicPartition): Stalled | undefined => stalls.get(partitionKey(of)),

    /** One sentence or two for each partition that stands still. */
    messages: (): string[] => [...stalls.values()].map(({ message }) => message),

    /** Reports a partition that stands still; repeated calls only retry the row if Postgres failed before. */
    async begin({ topic, partition }: TopicPartition, { state, message }: Stalled): Promise<void> {
      const of = { topic, partition }
      const before = stalls.get(partitionKey(of))
      const isKnown = before?.message === message
      if (isKnown && before.isNoted) return
      if (!isKnown) {
        forget(of)
        logger.error({ ...of, state }, message)
        metrics.stalled.set(labels(of, state), 1)
      }
      stalls.set(partitionKey(of), { ...of, state, message, isNoted: false })
      await noteStall(db, of, { state, message })
      stalls.set(partitionKey(of), { ...of, state, message, isNoted: true })
    },

    /** The partition continues. */
    async end(of: TopicPartition): Promise<void> {
      await clearStall(db, of)
      if (stalls.has(partitionKey(of)))
        logger.info({ topic: of.topic, partition: of.partition }, 'the partition goes on')
      forget(of)
    },

    /** Forgets partitions that now belong to others. */
    keep(assigned: TopicPartition[]): void {
      const mine = new Set(assigned.map(partitionKey))
      for (const stalled of [...stalls.values()]) if (!mine.has(partitionKey(stalled))) forget(stalled)
    },
  }
}
export type Stalls = ReturnType<typeof createStalls>

export type LogsDeps = {
  kafka: KafkaConnection
  db: Postgres
  topics: string[]
  metrics: Pick<ProjectorMetrics, 'stalled' | 'lateStarts'>
  logger: Logger
  /** Reads the topics; not asked for before partitions are assigned. */
  consumer: () => Pick<Consumer, 'state' | 'seek' | 'hold' | 'resume'>
  /** Called when a partition continues at another offset. */
  onMoved: (of: TopicPartition, next: number) => void
}
