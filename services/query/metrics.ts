import type { ApiKey, RequestCounts } from '@tally/access'
import type { Metrics } from '@tally/runtime'
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

const batchSizes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]

/** The metrics that a query process keeps; packages/runtime describes each. */
export function queryMetrics(metrics: Metrics) {
  return {
    requests: metrics.counter('tally_query_requests_total', ['endpoint', 'status']),
    seconds: metrics.histogram('tally_query_request_seconds', ['endpoint']),
    batchRequests: metrics.histogram('tally_query_batch_requests', [], batchSizes),
    /** Exports the age of each shard's watermark, in epoch milliseconds, whenever the metrics are read. */
    watchAsOf: (byShard: () => ReadonlyMap<number, number>) =>
      metrics.gauge('tally_query_as_of_age_seconds', ['shard'], age => {
        for (const [shard, asOfMs] of byShard())
          age.set({ shard: String(shard) }, (Date.now() - asOfMs) / 1000)
      }),
    source: metrics.counter('tally_query_source_total', ['source']),
    failures: metrics.counter('tally_query_failures_total', []),
    droppedConnections: metrics.counter('tally_query_dropped_connections_total', []),
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
  { requests, seconds }: QueryMetrics,
  counts: Pick<RequestCounts, 'note'>,
): OnAnswered {
  // Looking up the series of a set of labels costs more than counting.
  const countOf = memoize((endpoint, status) => requests.labels({ endpoint, status }))
  const secondsOf = memoize(endpoint => seconds.labels({ endpoint }))
  const answered: OnAnswered = (endpoint, { apiKey, beganAt }, status) => {
    countOf(endpoint, String(status)).inc()
    secondsOf(endpoint, '').observe((performance.now() - beganAt) / 1000)
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

/** Keeps one value for each pair; there are few endpoints and statuses. */
function memoize<Value>(make: (one: string, other: string) => Value): (one: string, other: string) => Value {
  const made = new Map<string, Map<string, Value>>()
  return (one, other) => {
    const ofOne = made.get(one) ?? new Map<string, Value>()
    made.set(one, ofOne)
    const value = ofOne.get(other) ?? make(one, other)
    ofOne.set(other, value)
    return value
  }
}
