import { rejectionReasons, timeZoneDataVersion } from '@tally/contract'
import { partitionKey, type TopicPartition } from '@tally/kafka'
import type { MetricName, Metrics } from '@tally/platform'
import type { Effects } from '@tally/projection'

type Outcome = keyof Effects['counts'] | 'rejected'
/** How many records a new process has seen of each outcome. */
const none: Record<Outcome, 0> = { applied: 0, parked: 0, duplicate: 0, ignored: 0, rejected: 0 }
const parts = ['kafka', 'postgres', 'redis']

/** The metrics of a projector of these topics; packages/platform describes each. */
export function projectorMetrics(metrics: Metrics, topics: string[]) {
  metrics.gauge('tally_time_zone_data_info', ['version']).set({ version: timeZoneDataVersion() }, 1)
  const records = metrics.counter('tally_projector_records_total', ['topic', 'outcome'])
  const rejected = metrics.counter('tally_projector_rejected_records_total', ['topic', 'reason'])
  const lostCommits = metrics.counter('tally_projector_lost_commits_total', ['topic'])
  const failures = metrics.counter('tally_projector_failures_total', ['part'])
  // A counter that begins at 1 has no increase for Prometheus: the first dead letter would not show.
  for (const topic of topics) {
    for (const [outcome, zero] of Object.entries(none)) records.inc({ topic, outcome }, zero)
    for (const reason of rejectionReasons) rejected.inc({ topic, reason }, 0)
    lostCommits.inc({ topic }, 0)
  }
  for (const part of parts) failures.inc({ part }, 0)
  return {
    records,
    rejected,
    batches: metrics.counter('tally_projector_batches_total', ['topic']),
    batchSeconds: metrics.histogram('tally_projector_batch_seconds'),
    publishSeconds: metrics.histogram('tally_projector_publish_seconds'),
    lag: partitionGauge(metrics, 'tally_projector_lag_records'),
    // The age grows while Postgres or Kafka does not answer and sets none.
    freshness: partitionGauge(metrics, 'tally_projector_freshness_seconds', (age, seconds) => age + seconds),
    stalled: metrics.gauge('tally_projector_stalled_partitions', ['topic', 'partition', 'state']),
    lateStarts: metrics.counter('tally_projector_late_starts_total', ['topic', 'partition']),
    redisRefusesWrites: metrics.gauge('tally_projector_redis_refuses_writes', []),
    organizationRows: metrics.gauge('tally_projector_organization_rows', ['organization']),
    organizationRedisBytes: metrics.gauge('tally_projector_organization_redis_bytes', ['organization']),
    lostCommits,
    failures,
  }
}
export type ProjectorMetrics = ReturnType<typeof projectorMetrics>

type PartitionGauge = {
  set(of: TopicPartition, value: number): void
  /** Forgets partitions that now belong to others: their last value would stay for as long as the process runs. */
  keep(assigned: TopicPartition[]): void
}

/**
 * A metric with a value for each partition that this projector reads. `current` gives the value to export from the last
 * one that was set and the seconds since then.
 */
function partitionGauge(
  metrics: Metrics,
  name: MetricName,
  current: (value: number, seconds: number) => number = value => value,
): PartitionGauge {
  const known = new Map<string, { of: TopicPartition; value: number; setMs: number }>()
  metrics.gauge(name, ['topic', 'partition'], gauge => {
    gauge.reset()
    for (const { of, value, setMs } of known.values()) {
      const seconds = (performance.now() - setMs) / 1000
      gauge.set({ topic: of.topic, partition: String(of.partition) }, current(value, seconds))
    }
  })
  return {
    set: (of, value) => void known.set(partitionKey(of), { of, value, setMs: performance.now() }),
    keep(assigned) {
      const mine = new Set(assigned.map(partitionKey))
      for (const key of [...known.keys()].filter(key => !mine.has(key))) known.delete(key)
    },
  }
}
