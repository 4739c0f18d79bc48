import type { KafkaConnection, TopicPartition } from '@tally/kafka'
import type { Logger, Postgres } from '@tally/platform'
import type { ProjectorMetrics } from '../metrics.ts'

export type LogsDeps = {
  kafka: KafkaConnection
  db: Postgres
  topics: string[]
  metrics: Pick<ProjectorMetrics, 'stalled' | 'lateStarts'>
  logger: Logger
  /** Called when a partition continues at another offset. */
  onMoved: (of: TopicPartition, next: number) => void
}
