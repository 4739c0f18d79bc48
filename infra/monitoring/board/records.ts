import { type Panel, p50AndP99, rate, tally } from './query.ts'

/** From Kafka to the documents in Redis. */
export const records: Panel[] = [
  {
    title: 'Records by outcome',
    unit: 'ops',
    queries: [{ expr: `sum by (outcome) (${rate('tally_projector_records_total')})`, legend: '{{outcome}}' }],
  },
  {
    title: 'Age of the figures by shard',
    unit: 's',
    queries: [
      {
        expr: `min by (namespace, shard) (tally_query_as_of_age_seconds{${tally}})`,
        legend: '{{namespace}} {{shard}}',
      },
    ],
  },
  {
    title: 'Lag by topic',
    unit: 'short',
    queries: [{ expr: `sum by (topic) (tally_projector_lag_records{${tally}})`, legend: '{{topic}}' }],
  },
  {
    title: 'Age of the watermark by topic, as the projectors have it',
    unit: 's',
    queries: [{ expr: `max by (topic) (tally_projector_freshness_seconds{${tally}})`, legend: '{{topic}}' }],
  },
  {
    title: 'Time of a batch until its commit',
    unit: 's',
    queries: p50AndP99('tally_projector_batch_seconds'),
  },
  {
    title: 'Time to publish documents of new batches',
    unit: 's',
    queries: p50AndP99('tally_projector_publish_seconds'),
  },
  {
    title: 'Batches by topic',
    unit: 'ops',
    queries: [{ expr: `sum by (topic) (${rate('tally_projector_batches_total')})`, legend: '{{topic}}' }],
  },
  {
    title: 'Trouble in the last hour',
    unit: 'short',
    queries: [
      {
        expr: `sum by (reason) (increase(tally_projector_rejected_records_total{${tally}}[1h]))`,
        legend: 'dead letters: {{reason}}',
      },
      {
        expr: `sum(increase(tally_projector_lost_commits_total{${tally}}[1h]))`,
        legend: 'lost commits',
      },
      {
        expr: `sum(max_over_time(tally_projector_stalled_partitions{${tally}}[1h])) or vector(0)`,
        legend: 'stalled partitions',
      },
      {
        expr: `sum(max_over_time(tally_projector_late_starts_total{${tally}}[1h])) or vector(0)`,
        legend: 'late starts',
      },
    ],
  },
]
