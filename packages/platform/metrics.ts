import { readFileSync } from 'node:fs'
import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client'

/** Every metric of Tally with what it says; the table in docs/reference.md says the same. */
export const metricHelp = {
  tally_build_info: 'Always 1, with the process (projector, query, admin) and the version of the program',
  tally_time_zone_data_info:
    'Always 1, with the version of the time zone data that hours are computed by, such as `2026f`',
  tally_postgres_connections:
    'Connections to Postgres, by pool and state (used, idle), and how many callers wait for one (waiting)',
  tally_postgres_connection_limit: 'Connections to Postgres that a pool opens at most, by pool',
  tally_projector_records_total:
    'Records processed, by topic and outcome (applied, parked, duplicate, rejected; ignored: of a removed event)',
  tally_projector_rejected_records_total:
    'Records rejected, by topic and reason (such as schema or contradiction); each is a dead letter',
  tally_projector_batches_total:
    'Batches committed, by topic; of a batch that is committed in pieces, each piece',
  tally_projector_batch_seconds: 'Time to process a batch, or a piece of one, up to its commit in Postgres',
  tally_projector_publish_seconds:
    'Time to compose and publish the documents that are due, of one or more batches; not of what Redis lost',
  tally_projector_lag_records:
    'Records between the applied offset and the end of the partition, by topic and partition',
  tally_projector_freshness_seconds:
    'Age of the watermark up to which everything is counted, by topic and partition',
  tally_projector_stalled_partitions:
    'Whether a partition is stalled until an operator acts (1), by topic, partition and state (gap, recreated, undecodable)',
  tally_projector_late_starts_total:
    'Partitions whose log no longer began at offset 0 when they were first read, by topic and partition',
  tally_projector_failures_total: 'Failed attempts that are repeated, by part (kafka, postgres, redis)',
  tally_projector_redis_refuses_writes:
    'Whether Redis refuses writes (1): full, disk errors, too few replicas',
  tally_projector_lost_commits_total:
    'Times that Postgres came back without commits of a partition, by topic; the records are read again',
  tally_projector_organization_rows:
    'Orders and counters in Postgres, by organization (unknown: of events whose record has not arrived), once a minute; the 100 largest organizations with 100,000 rows or 10 MB in Redis',
  tally_projector_organization_redis_bytes:
    'Memory of the documents in Redis, by organization, once a minute; the 100 largest organizations with 100,000 rows or 10 MB in Redis',
  tally_query_requests_total: 'Requests answered, by endpoint and status',
  tally_query_request_seconds:
    'Time to answer a request, by endpoint and outcome: answered, refused (4xx), failed (5xx)',
  tally_query_as_of_age_seconds:
    'Age of the watermark up to which everything is counted, by shard, as Postgres has it; it grows if no projector runs',
  tally_query_batch_requests: 'Requests that shared one round trip to Redis',
  tally_query_source_total:
    'Reads by source of the answer (memory, redis, postgres); simultaneous requests share one',
  tally_query_failures_total: 'Failed calls to Redis or Postgres; another source answered, or a 503',
  tally_query_dropped_connections_total:
    'Connections closed at once because `QUERY_MAX_CONNECTIONS` were open',
  tally_query_unread_connections_total:
    'Connections closed because their clients did not read answers, for two minutes or while too much was unread',
  tally_query_redis_refuses_writes:
    'Whether Redis refused a write in the last 30 s (1), so that Postgres answers: full, read-only, disk errors',
  tally_admin_requests_total: 'Pages of the administration area answered, by status',
  tally_admin_sign_ins_total: 'Sign-in attempts, by outcome (signed-in, refused, limited)',
  tally_admin_live_screens: 'Live screens open now',
} as const
export type MetricName = keyof typeof metricHelp

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Counts of connections, as pg's pool has them. */
type Pool = { totalCount: number; idleCount: number; waitingCount: number; options: { max: number } }

export type ProcessName = 'projector' | 'query' | 'admin'

/** The metrics registry of one process, with Node's own metrics and the version in it. */
export function createMetrics(process: ProcessName) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const described = <Name extends MetricName>(name: Name) => ({
    name,
    help: metricHelp[name],
    registers: [registry],
  })
  const gauge = <Label extends string>(
    name: MetricName,
    labelNames: Label[],
    collect?: (gauge: Gauge<Label>) => void,
  ) =>
    new Gauge({
      ...described(name),
      labelNames,
      ...(collect && {
        collect() {
          collect(this)
        },
      }),
    })
  gauge('tally_build_info', ['process', 'version']).set({ process, version }, 1)
  const pools: { name: string; pool: Pool }[] = []
  gauge('tally_postgres_connections', ['pool', 'state'], connections => {
    connections.reset()
    for (const { name, pool } of pools) {
      connections.inc({ pool: name, state: 'used' }, pool.totalCount - pool.idleCount)
      connections.inc({ pool: name, state: 'idle' }, pool.idleCount)
      connections.inc({ pool: name, state: 'waiting' }, pool.waitingCount)
    }
  })
  gauge('tally_postgres_connection_limit', ['pool'], limit => {
    limit.reset()
    for (const { name, pool } of pools) limit.inc({ pool: name }, pool.options.max)
  })
  return {
    registry,
    /** Exports the connections of a pool; those of several pools with one name are added up. */
    watchPool: (name: string, pool: Pool) => void pools.push({ name, pool }),
    /** `collect` adds what is not in it yet whenever the metrics are read. */
    counter: <Label extends string>(
      name: MetricName,
      labelNames: Label[],
      collect?: (counter: Counter<Label>) => void,
    ) =>
      new Counter({
        ...described(name),
        labelNames,
        ...(collect && {
          collect() {
            collect(this)
          },
        }),
      }),
    /** `collect` sets the values whenever the metrics are read. */
    gauge,
    /** `buckets`: their upper bounds; by default those of a time in seconds. */
    histogram: (name: MetricName, buckets = secondsBuckets) =>
      createHistogram(registry, { name, help: metricHelp[name], buckets })({}),
    /** The same by labels: a function that opens the series of some labels, once for each. */
    histogramOf: <Label extends string>(name: MetricName, buckets = secondsBuckets) =>
      createHistogram<Label>(registry, { name, help: metricHelp[name], buckets }),
  }
}
export type Metrics = ReturnType<typeof createMetrics>

type Labels = Record<string, string>
type Series = { labels: Labels; counts: number[]; sum: number }
type Observer = { observe(value: number): void }

/**
 * A histogram for a registry of prom-client, whose own builds a string from the labels on each observation, 2 % of the
 * time of a poll. Returns the function that opens the series of a set of labels; call it once per set and keep the
 * result. `buckets` are upper bounds, ascending.
 */
export function createHistogram<Label extends string>(
  registry: Registry,
  { name, help, buckets }: { name: string; help: string; buckets: readonly number[] },
): (labels: Record<Label, string>) => Observer {
  const known: Series[] = []
  const open = (labels: Record<Label, string>): Observer => {
    const series: Series = { labels, counts: buckets.map(() => 0), sum: 0 }
    // The last count is of values above all bounds.
    series.counts.push(0)
    known.push(series)
    return {
      observe(value) {
        let bucket = 0
        while (bucket < buckets.length && value > (buckets[bucket] as number)) bucket += 1
        series.counts[bucket] = (series.counts[bucket] as number) + 1
        series.sum += value
      },
    }
  }
  const get = async () => ({
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    values: known.flatMap(valuesOf),
  })
  const valuesOf = ({ labels, counts, sum }: Series) => {
    let count = 0
    const inBuckets = counts.map((added, bucket) => {
      count += added
      const le = bucket < buckets.length ? String(buckets[bucket]) : '+Inf'
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count }
    })
    return [
      ...inBuckets,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ]
  }
  registry.registerMetric({ name, get } as unknown as Metric)
  return open
}
