import type { KafkaConnection, TopicPartition } from '@tally/kafka'
import type { SeenEpoch } from '@tally/offsets'
import type { Logger, Postgres } from '@tally/platform'
import type { ReadModelRedis, RedisKeys } from '@tally/publication'
import type { Logs } from '../logs/logs.ts'
import type { ProjectorMetrics } from '../metrics.ts'
import type { PartitionCheck } from '../partitioner.ts'
import type { Publisher } from '../publish/publisher.ts'
import type { AsOf } from './asOf.ts'
import type { Refusals } from './refusals.ts'
import type { Sizes } from './sizes.ts'
import type { Walk } from './walk.ts'

/** What the steps of the watch work on; each step takes the part of it that it needs. */
export type WatchDeps = {
  kafka: KafkaConnection
  db: Postgres
  redis: ReadModelRedis
  keys: RedisKeys
  publisher: Publisher
  asOf: AsOf
  seen: SeenEpoch
  walk: Walk
  sizes: Pick<Sizes, 'step'>
  topics: string[]
  assigned: () => TopicPartition[]
  logs: Pick<Logs, 'isSound' | 'isHeld'>
  partitioner: Pick<PartitionCheck, 'learn'>
  /** Reads a partition again from an offset before the applied one. */
  seek: (of: TopicPartition, offset: number) => void
  refusals: Pick<Refusals, 'during'>
  metrics: ProjectorMetrics
  logger: Logger
}
