import { rejectionReasons, timeZoneDataVersion } from '@tally/contract'
import type { Metrics } from '@tally/platform'
import type { Effects } from '@tally/projection'
import { partitionGauge } from './partitionGauge.ts'

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
