import type { DeadLetters } from '@tally/dead-letters'
import {
  type Consumer,
  consumeBatches,
  describeTopics,
  type KafkaConnection,
  partitionOf,
  type TopicPartition,
} from '@tally/kafka'
import type { Postgres } from '@tally/platform'
import {
  createGroupCommit,
  EventRoom,
  logInternal,
  type ProjectorDeps,
  projectJudged,
} from '@tally/projection'
import type { Logs } from './logs/logs.ts'
import { assignedPartitions } from './logs/state.ts'
import { type OnBatchDeps, onBatch } from './onBatch.ts'

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
  const {
    kafka,
    db,
    deadLetters,
    logs,
    partitioner,
    groupId,
    topics,
    concurrency,
    asOf,
    metrics,
    logger,
    crash,
  } = deps
  const project: ProjectorDeps = {
    db,
    deadLetters,
    room: new EventRoom(),
    onInternal: (at, error) => logInternal(logger, at, error),
    verify: logs.verify,
    hasForeign: partitioner.hasForeign,
  }
  const groups = createGroupCommit({
    project: (type, judged, options) => projectJudged(project, type, judged, options),
    // If the connection of a group hangs, there is still room for another batch.
    most: Math.max(concurrency - 1, 1),
    onFailed: (err, batches) =>
      logger.debug({ err, batches }, 'a shared transaction failed; each of its batches is applied by itself'),
  })

  const consumer = await consumeBatches(kafka, {
    groupId,
    topics,
    concurrency,
    onBatch: onBatch({ ...deps, project: { ...project, groups } }),
    async onAssigned(assignment) {
      partitioner.learn(await describeTopics(kafka, topics))
      const assigned = assignedPartitions(assignment)
      asOf.keep(assigned)
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
    onCrash: crash,
  })
  logs.attach(consumer)
  return consumer
}

/** Finds records in another partition than the standard partitioner would have chosen (docs/records.md, Topics). */
export type PartitionCheck = {
  /** Stores how many partitions each topic has. */
  learn(counts: ReadonlyMap<string, number>): void
  /** Whether one of these keys belongs to another partition of the topic. */
  hasForeign(of: { topic: string; partition: number }, keys: Iterable<string>): boolean
}

export function createPartitionCheck(): PartitionCheck {
  let counts: ReadonlyMap<string, number> = new Map()
  return {
    learn(learnt) {
      counts = learnt
    },
    hasForeign({ topic, partition }, keys) {
      const count = counts.get(topic)
      if (count === undefined) return false
      for (const key of keys) if (partitionOf(Buffer.from(key), count) !== partition) return true
      return false
    },
  }
}
