import type { ApiKey, RequestCounts } from '@tally/access'
import { endpoints, timeZoneDataVersion } from '@tally/contract'
import type { MetricName, Metrics } from '@tally/platform'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The endpoint's name in the contract, for the metrics. */
    name?: string
  }
  interface FastifyRequest {
    /** Set once the request is authenticated. */
    apiKey: ApiKey | undefined
    /** By `performance.now`. */
    beganAt: number
  }
}

/** The limits of docs/reference.md, Service levels, have to be among them: 0.02 s of latency. */
const requestSeconds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]
const batchSizes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]

/** The metrics that a query process keeps; packages/platform describes each. */
export function queryMetrics(metrics: Metrics) {
  metrics.gauge('tally_time_zone_data_info', ['version']).set({ version: timeZoneDataVersion() }, 1)
  const sourceOf = counterOf(metrics, 'tally_query_source_total', ['source'])
  const bySource = {
    memory: sourceOf({ source: 'memory' }),
    redis: sourceOf({ source: 'redis' }),
    postgres: sourceOf({ source: 'postgres' }),
  }
  return {
    requestsOf: counterOf(metrics, 'tally_query_requests_total', ['endpoint', 'status']),
    secondsOf: metrics.histogramOf<'endpoint' | 'outcome'>('tally_query_request_seconds', requestSeconds),
    batchRequests: metrics.histogram('tally_query_batch_requests', batchSizes),
    /** Exports the age of each shard's watermark, in milliseconds, whenever the metrics are read. */
    watchAsOf: (ages: () => ReadonlyMap<number, number>) =>
      metrics.gauge('tally_query_as_of_age_seconds', ['shard'], age => {
        for (const [shard, ageMs] of ages()) age.set({ shard: String(shard) }, ageMs / 1000)
      }),
    countSource(source: keyof typeof bySource): void {
      bySource[source].count += 1
    },
    failures: metrics.counter('tally_query_failures_total', []),
    droppedConnections: metrics.counter('tally_query_dropped_connections_total', []),
    unreadConnections: metrics.counter('tally_query_unread_connections_total', []),
    watchRefusals: (refusedLately: () => boolean) =>
      metrics.gauge('tally_query_redis_refuses_writes', [], gauge => gauge.set(refusedLately() ? 1 : 0)),
  }
}
export type QueryMetrics = ReturnType<typeof queryMetrics>

/** What is counted and timed of the answers of an endpoint with one status; those of one outcome are timed together. */
type Series = { requests: { count: number }; seconds: ReturnType<QueryMetrics['secondsOf']>; outcome: string }

/** Call it for every answer that bypasses fastify; `beganAt` is by `performance.now`. */
export type OnAnswered = (
  endpoint: string,
  request: { apiKey: ApiKey | undefined; beganAt: number },
  status: number,
) => void

/**
 * Counts and times every answer by endpoint (`other` if it is not an endpoint's), and by key if there is one. Returns
 * the function to call for an answer that bypasses fastify: fastify's onResponse hook, which listens to Node's
 * response, took 5 % of the time of a hot request.
 */
export function watchRequests(
  app: FastifyInstance,
  { requestsOf, secondsOf }: QueryMetrics,
  counts: Pick<RequestCounts, 'note'>,
): OnAnswered {
  // A counter that begins at 1 has no increase for Prometheus: the first failure would not show.
  for (const endpoint of [...Object.keys(endpoints), 'other'])
    for (const status of ['500', '503']) requestsOf({ endpoint, status })
  const opened = new Map<string, Map<number, Series>>()
  const open = (endpoint: string, status: number): Series => {
    const byStatus = opened.get(endpoint) ?? new Map<number, Series>()
    const outcome = outcomeOf(status)
    const alike = [...byStatus.values()].find(series => series.outcome === outcome)
    const seconds = alike?.seconds ?? secondsOf({ endpoint, outcome })
    const series = { requests: requestsOf({ endpoint, status: String(status) }), seconds, outcome }
    opened.set(endpoint, byStatus.set(status, series))
    return series
  }
  const answered: OnAnswered = (endpoint, { apiKey, beganAt }, status) => {
    const { requests, seconds } = opened.get(endpoint)?.get(status) ?? open(endpoint, status)
    requests.count += 1
    seconds.observe((performance.now() - beganAt) / 1000)
    if (apiKey !== undefined) counts.note(apiKey, status)
  }
  app.decorateRequest('apiKey', undefined)
  app.decorateRequest('beganAt', 0)
  app.addHook('onRequest', (request, _reply, done) => {
    request.beganAt = performance.now()
    done()
  })
  app.addHook('onSend', (request, reply, _payload, done) => {
    answered(request.routeOptions.config?.name ?? 'other', request, reply.statusCode)
    done()
  })
  return answered
}

/** Refusals are apart: some wait on purpose, and none of them is what a device came for. */
const outcomeOf = (status: number): string =>
  status < 400 ? 'answered' : status < 500 ? 'refused' : 'failed'

/**
 * A counter that counts in memory, and passes its counts to prom-client when the metrics are read: prom-client builds a
 * string from the labels on each call, which took 2 % of the time of a poll. Returns the function that opens a series.
 */
function counterOf<Label extends string>(metrics: Metrics, name: MetricName, labelNames: Label[]) {
  const opened: { labels: Record<Label, string>; count: number }[] = []
  metrics.counter(name, labelNames, counter => {
    for (const series of opened) {
      counter.inc(series.labels, series.count)
      series.count = 0
    }
  })
  return (labels: Record<Label, string>): { count: number } => {
    const series = { labels, count: 0 }
    opened.push(series)
    return series
  }
}
