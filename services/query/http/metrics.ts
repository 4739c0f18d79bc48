import type { ApiKey, RequestCounts } from '@tally/access'
import { endpoints, timeZoneDataVersion } from '@tally/contract'
import { getOrInsertComputed } from '@tally/figures'
import type { Metrics } from '@tally/platform'
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
  return {
    countRequests: createRequestCounts(metrics),
    secondsOf: metrics.histogramOf<'endpoint' | 'outcome'>('tally_query_request_seconds', requestSeconds),
    batchRequests: metrics.histogram('tally_query_batch_requests', batchSizes),
    /** Exports the age of each shard's watermark, in milliseconds, whenever the metrics are read. */
    watchAsOf: (ages: () => ReadonlyMap<number, number>) =>
      metrics.gauge('tally_query_as_of_age_seconds', ['shard'], age => {
        for (const [shard, ageMs] of ages()) age.set({ shard: String(shard) }, ageMs / 1000)
      }),
    source: metrics.counter('tally_query_source_total', ['source']),
    failures: metrics.counter('tally_query_failures_total', []),
    droppedConnections: metrics.counter('tally_query_dropped_connections_total', []),
    unreadConnections: metrics.counter('tally_query_unread_connections_total', []),
    redisRefusesWrites: metrics.gauge('tally_query_redis_refuses_writes', []),
  }
}
export type QueryMetrics = ReturnType<typeof queryMetrics>

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
  { countRequests, secondsOf }: QueryMetrics,
  counts: Pick<RequestCounts, 'note'>,
): OnAnswered {
  const secondsBy = memoize((endpoint, outcome: string) => secondsOf({ endpoint, outcome }))
  // A counter that begins at 1 has no increase for Prometheus: the first failure would not show.
  for (const endpoint of [...Object.keys(endpoints), 'other'])
    for (const status of failures) countRequests(endpoint, status, 0)
  const answered: OnAnswered = (endpoint, { apiKey, beganAt }, status) => {
    countRequests(endpoint, status)
    secondsBy(endpoint, outcomeOf(status)).observe((performance.now() - beganAt) / 1000)
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

/** Answers that count against availability (docs/reference.md, Service levels). */
const failures = [500, 503]

/** Refusals are apart: some wait on purpose, and none of them is what a device came for. */
const outcomeOf = (status: number): string =>
  status < 400 ? 'answered' : status < 500 ? 'refused' : 'failed'

/**
 * Counts requests in memory, and passes the counts to prom-client when the metrics are read: prom-client builds a
 * string from the labels on each call, which took 2 % of the time of a poll.
 */
function createRequestCounts(metrics: Metrics) {
  const counts: { endpoint: string; status: string; count: number }[] = []
  metrics.counter('tally_query_requests_total', ['endpoint', 'status'], counter => {
    for (const series of counts) {
      const { endpoint, status, count } = series
      counter.inc({ endpoint, status }, count)
      series.count = 0
    }
  })
  const countOf = memoize((endpoint, status: number) => {
    const series = { endpoint, status: String(status), count: 0 }
    counts.push(series)
    return series
  })
  return (endpoint: string, status: number, by = 1): void => {
    countOf(endpoint, status).count += by
  }
}

/** Keeps one value per endpoint and label; there are few of both. */
function memoize<Label, Value>(make: (endpoint: string, label: Label) => Value) {
  const made = new Map<string, Map<Label, Value>>()
  return (endpoint: string, label: Label): Value => {
    const ofEndpoint = getOrInsertComputed(made, endpoint, () => new Map<Label, Value>())
    return getOrInsertComputed(ofEndpoint, label, () => make(endpoint, label))
  }
}
