import { endpointNames } from '@tally/contract'
import { createMetrics } from '@tally/platform'
import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { queryMetrics, watchRequests } from './metrics.ts'

test('requests are counted and timed by endpoint, those that were refused or failed apart', async () => {
  const { answered, metrics, text } = given()
  const request = { apiKey: undefined, beganAt: performance.now() - 100 }
  for (const status of [200, 304, 429, 503]) answered('getKpis', request, status)
  metrics.countSource('memory')

  await text()
  const series = await text()
  expect(series).toContain('tally_query_source_total{source="memory"} 1')
  expect(series).toContain('tally_query_requests_total{endpoint="getKpis",status="503"} 1')
  for (const [outcome, count] of [
    ['answered', 2],
    ['refused', 1],
    ['failed', 1],
  ])
    expect(series).toContain(
      `tally_query_request_seconds_count{endpoint="getKpis",outcome="${outcome}"} ${count}`,
    )
  // The limit of the service level is a bucket.
  expect(series).toMatch(/le="0.02",endpoint="getKpis",.*answered"} 0\n[\s\S]*le="5",.*answered"} 2\n/)
})

test('failures begin at 0 for every endpoint, because Prometheus sees no increase in the first value', async () => {
  const series = await given().text()
  expect(series.match(/tally_query_requests_total\{.*status="503"\} 0/g)).toHaveLength(
    endpointNames.length + 1,
  )
})

test("the age of each shard's watermark is exported whenever the metrics are read", async () => {
  const { metrics, text } = given()
  let ageMs = 300
  metrics.watchAsOf(() => new Map([[3, ageMs]]))
  expect(await text()).toContain('tally_query_as_of_age_seconds{shard="3"} 0.3\n')
  ageMs = 4_000
  expect(await text()).toContain('tally_query_as_of_age_seconds{shard="3"} 4\n')
})

function given() {
  const registry = createMetrics('query')
  const metrics = queryMetrics(registry)
  const answered = watchRequests(fastify(), metrics, { note() {} })
  return { metrics, answered, text: () => registry.registry.metrics() }
}
