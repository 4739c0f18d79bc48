import type { ApiKey, RequestCounts } from '@tally/api-keys'
import type { Metrics } from '@tally/runtime'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The endpoint's name in the contract, for the metrics. */
    name?: string
  }
  interface FastifyRequest {
    /** Whose request it is, once that is known. */
    apiKey: ApiKey | undefined
  }
}

/** The metrics that a query process keeps; what each says is in the list of packages/runtime. */
export function queryMetrics(metrics: Metrics) {
  return {
    requests: metrics.counter('tally_query_requests_total', ['endpoint', 'status']),
    seconds: metrics.histogram('tally_query_request_seconds', ['endpoint']),
    source: metrics.counter('tally_query_source_total', ['source']),
    failures: metrics.counter('tally_query_failures_total', []),
  }
}
export type QueryMetrics = ReturnType<typeof queryMetrics>

/** Counts and times every answer by endpoint; all that is no endpoint counts as `other`. With a key, by key too. */
export function watchRequests(
  app: FastifyInstance,
  { requests, seconds }: QueryMetrics,
  counts: Pick<RequestCounts, 'note'>,
): void {
  app.decorateRequest('apiKey', undefined)
  app.addHook('onResponse', (request, reply, done) => {
    const endpoint = request.routeOptions.config?.name ?? 'other'
    requests.inc({ endpoint, status: String(reply.statusCode) })
    seconds.observe({ endpoint }, reply.elapsedTime / 1000)
    if (request.apiKey !== undefined) counts.note(request.apiKey, reply.statusCode)
    done()
  })
}
