import type { Metrics } from '@tally/runtime'

/** The metrics of a projector; packages/runtime describes each. */
export function projectorMetrics(metrics: Metrics) {
  return {
    records: metrics.counter('tally_projector_records_total', ['topic', 'outcome']),
    batches: metrics.counter('tally_projector_batches_total', ['topic']),
    batchSeconds: metrics.histogram('tally_projector_batch_seconds', []),
    publishSeconds: metrics.histogram('tally_projector_publish_seconds', []),
    lag: metrics.gauge('tally_projector_lag_records', ['topic', 'partition']),
    freshness: metrics.gauge('tally_projector_freshness_seconds', ['topic', 'partition']),
    stalled: metrics.gauge('tally_projector_stalled_partitions', ['topic', 'partition', 'state']),
    lateStarts: metrics.counter('tally_projector_late_starts_total', ['topic', 'partition']),
    redisRefusesWrites: metrics.gauge('tally_projector_redis_refuses_writes', []),
    lostCommits: metrics.counter('tally_projector_lost_commits_total', ['topic']),
    failures: metrics.counter('tally_projector_failures_total', ['part']),
  }
}
export type ProjectorMetrics = ReturnType<typeof projectorMetrics>
