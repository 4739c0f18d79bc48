import type { RecordType } from '@tally/contract'
import type { DeadLetters } from '@tally/dead-letters'
import {
  type BatchControl,
  type Consumer,
  consumeBatches,
  describeTopics,
  type KafkaConnection,
  partitionKey,
  partitionOf,
  type RecordBatch,
  type TopicPartition,
} from '@tally/kafka'
import {
  isTransient,
  isUnreachable,
  type Logger,
  oncePerMinute,
  type Postgres,
  partOf,
  reasonOf,
} from '@tally/platform'
import {
  createGroupCommit,
  type Effects,
  EventRoom,
  logInternal,
  type Projected,
  type ProjectorDeps,
  projectJudged,
  projectPieces,
  slices,
} from '@tally/projection'
import type { Logs } from './logs/logs.ts'
import { assignedPartitions } from './logs/state.ts'
import type { ProjectorMetrics } from './metrics.ts'
import type { Publisher } from './publish/publisher.ts'
import type { PartitionProgress } from './watch/progress.ts'

type ConsumeDeps = Omit<OnBatchDeps, 'project'> & {
  kafka: KafkaConnection
  db: Postgres
  deadLetters: DeadLetters
  logs: Logs
  partitioner: PartitionCheck
  groupId: string
  topics: string[]
  /** Batches of different partitions processed at the same time. */
  concurrency: number
  /** Called with the assigned partitions, once the offsets at which to read them are known. */
  onAssigned: (assigned: TopicPartition[]) => void
}

/**
 * Starts to read the topics as a member of the consumer group. Each partition begins at its offset in Postgres, or is
 * held if its log is not the one that was applied.
 */
export async function consume(deps: ConsumeDeps): Promise<Consumer> {
  const { kafka, db, deadLetters, logs, partitioner, topics, concurrency, progress, metrics, logger } = deps
  const project: ProjectorDeps = {
    db,
    deadLetters,
    room: new EventRoom(),
    onInternal: (at, error) => logInternal(logger, at, error),
    verify: logs.verify,
    hasMisplaced: partitioner.hasMisplaced,
  }
  const groups = createGroupCommit({
    project: (judged, options) => projectJudged(project, 'orders', judged, options),
    // If the connection of a group hangs, there is still room for another batch.
    most: Math.max(concurrency - 1, 1),
    onFailed: (err, batches) =>
      logger.debug({ err, batches }, 'a shared transaction failed; each of its batches is applied by itself'),
  })

  return consumeBatches(kafka, {
    groupId: deps.groupId,
    topics,
    concurrency,
    onBatch: onBatch({ ...deps, project: { ...project, groups } }),
    async onAssigned(assignment) {
      partitioner.learn(await describeTopics(kafka, topics))
      const assigned = assignedPartitions(assignment)
      progress.keep(assigned)
      metrics.lag.keep(assigned)
      metrics.freshness.keep(assigned)
      const starts = await logs.assigned(assignment)
      deps.onAssigned(assigned)
      logger.info({ partitions: assigned.length }, 'partitions assigned')
      return starts
    },
    onOutOfLog: logs.outOfLog,
    identityOf: logs.identityOf,
    onRefused: of => void logs.refused(of),
    onCrash: deps.crash,
  })
}

/** Finds records in another partition than the standard partitioner would have chosen (docs/records.md, Topics). */
export type PartitionCheck = {
  /** Stores how many partitions each topic has. */
  learn(counts: ReadonlyMap<string, number>): void
  /** Whether one of these keys belongs to another partition of the topic. */
  hasMisplaced(of: { topic: string; partition: number }, keys: Iterable<string>): boolean
}

export function createPartitionCheck(): PartitionCheck {
  let counts: ReadonlyMap<string, number> = new Map()
  return {
    learn(learnt) {
      counts = learnt
    },
    hasMisplaced({ topic, partition }, keys) {
      const count = counts.get(topic)
      if (count === undefined) return false
      for (const key of keys) if (partitionOf(Buffer.from(key), count) !== partition) return true
      return false
    },
  }
}

/** The size of one transaction: at most about a second of work, for which heartbeats, a stop and other batches wait. */
const aTransaction = { records: 10_000, bytes: 8 * 1024 * 1024 }
/** If this many records follow a batch in its partition, its documents wait for further batches. */
const behind = 1_000

type OnBatchDeps = {
  project: ProjectorDeps
  types: Map<string, RecordType>
  publisher: Publisher
  progress: PartitionProgress
  metrics: ProjectorMetrics
  troubles: Troubles
  logger: Logger
  crash: (error: unknown) => void
}

/**
 * Returns the function that the consumer calls with each batch. It projects the batch in transactions of bounded size,
 * has their documents published, and returns the offset to read next. It throws a transient error, so that the batch is
 * read again; any other error ends the process.
 */
function onBatch(deps: OnBatchDeps) {
  const { project, types, publisher, progress, metrics, troubles, logger, crash } = deps
  const projectSlice = (slice: RecordBatch, isStale: () => boolean): Promise<number> => {
    let began = performance.now()
    const onTimeout = (piece: RecordBatch, error: unknown): void => {
      if (isStale()) throw error
      failed(piece, error)
    }
    const type = types.get(slice.topic) as RecordType
    return projectPieces({ ...project, onTimeout }, type, slice, (piece, projected) => {
      settle(piece, projected, performance.now() - began)
      began = performance.now()
    })
  }

  const failed = (batch: RecordBatch, error: unknown): void => {
    metrics.failures.inc({ part: partOf(error) })
    troubles.failed(batch, error)
  }

  const settle = (slice: RecordBatch, { next, effects, hasMisplaced }: Projected, tookMs: number): void => {
    progress.applied(slice, next)
    if (hasMisplaced) warnMisplaced(slice)
    if (effects === undefined) return
    const isBehind = slice.lastStableOffset - next >= behind
    publisher.add(slice, effects, { isBehind })
    // The watch counts and repeats a flush that fails.
    if (!isBehind) void publisher.flush().catch(() => undefined)
    report(slice, effects, tookMs)
  }

  const warnMisplaced = ({ topic, partition }: RecordBatch): void =>
    logger.warn(
      { topic, partition },
      'records lie in another partition than the murmur2 partitioner chooses (another partitioner, or added partitions): from now on asOf is that of the partition that is furthest behind',
    )

  /** Topics with partitions whose ignored records this process has reported. */
  const reported = new Set<string>()
  const warnIgnored = (topic: string, partition: number): void => {
    if (reported.has(partitionKey({ topic, partition }))) return
    reported.add(partitionKey({ topic, partition }))
    logger.warn(
      { topic, partition },
      'records of events that were removed (tally events remove) are ignored; tally_projector_records_total counts them',
    )
  }

  const report = ({ topic, partition, from, next }: RecordBatch, effects: Effects, tookMs: number): void => {
    const { revision } = effects
    const counts = { ...effects.counts, rejected: effects.rejected.length }
    for (const [outcome, count] of Object.entries(counts)) {
      if (count > 0) metrics.records.inc({ topic, outcome }, count)
    }
    for (const [reason, of] of Map.groupBy(effects.rejected, ({ rejected }) => rejected.reason)) {
      metrics.rejected.inc({ topic, reason }, of.length)
      troubles.rejected(reason, of.length, { topic, partition, offset: of.at(-1)?.offset ?? from })
    }
    if (counts.ignored > 0) warnIgnored(topic, partition)
    metrics.batches.inc({ topic })
    metrics.batchSeconds.observe(tookMs / 1000)
    logger.debug({ topic, partition, from, next, revision, ...counts, tookMs }, 'batch applied')
  }

  return async (batch: RecordBatch, { isStale }: BatchControl): Promise<number> => {
    let next = batch.from
    try {
      for (const slice of slices(batch, aTransaction)) {
        next = await projectSlice(slice, isStale)
        if (next !== slice.next || isStale()) break
      }
      return next
    } catch (error) {
      if (isTransient(error)) failed(batch, error)
      else crash(error)
      throw error
    }
  }
}

type LastRejected = TopicPartition & { offset: number }
type Failed = TopicPartition & { reason: string }

/** Logs what can come many times a second, rejected records and failed batches: one line a minute for each reason. */
export function createTroubles(logger: Logger) {
  const rejections = oncePerMinute<LastRejected>((reason, count, last) =>
    logger.warn(
      { reason, count, last },
      `${count === 1 ? 'a record was' : `${count} records were`} rejected (${reason}): see \`tally dead-letters list\``,
    ),
  )
  const failures = oncePerMinute<Failed>((_, count, { reason, ...last }) =>
    logger.warn(
      { reason, count, last },
      `${count === 1 ? 'a batch' : `${count} batches`} failed (${reason}); trying again`,
    ),
  )
  return {
    rejected: (reason: string, count: number, last: LastRejected): void =>
      rejections.note(reason, count, last),
    /** A transient error; parts that do not answer are reported as outages. */
    failed({ topic, partition }: TopicPartition, error: unknown): void {
      if (isUnreachable(error)) return
      const { code } = error as { code?: unknown }
      const reason = reasonOf(error)
      failures.note(String(code ?? reason), 1, { topic, partition, reason })
    },
  }
}
type Troubles = ReturnType<typeof createTroubles>
