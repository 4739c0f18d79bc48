import { createMetrics } from '@tally/platform'
import { expect, test } from 'vitest'
import { projectorMetrics } from './metrics.ts'

const topic = 'tally.orders'
const given = () => {
  const registry = createMetrics('projector')
  const metrics = projectorMetrics(registry, [topic])
  const lines = async (name: string) =>
    (await registry.registry.metrics()).split('\n').filter(line => line.startsWith(`${name}{`))
  return { metrics, lines }
}

test('a counter that an alert watches begins at 0, because Prometheus sees no increase in the first value', async () => {
  const { lines } = given()
  expect(await lines('tally_projector_records_total')).toEqual(
    ['applied', 'parked', 'duplicate', 'ignored', 'rejected'].map(
      outcome => `tally_projector_records_total{topic="${topic}",outcome="${outcome}"} 0`,
    ),
  )
  expect(await lines('tally_projector_rejected_records_total')).toContain(
    `tally_projector_rejected_records_total{topic="${topic}",reason="contradiction"} 0`,
  )
  expect(await lines('tally_projector_lost_commits_total')).toHaveLength(1)
  expect(await lines('tally_projector_failures_total')).toHaveLength(3)
})

test('a partition that another projector reads has no lag and no age here', async () => {
  const { metrics, lines } = given()
  for (const gauge of [metrics.lag, metrics.freshness])
    for (const partition of [0, 1]) gauge.set({ topic, partition }, 7)
  for (const gauge of [metrics.lag, metrics.freshness]) gauge.keep([{ topic, partition: 1 }])
  expect(await lines('tally_projector_lag_records')).toEqual([
    `tally_projector_lag_records{topic="${topic}",partition="1"} 7`,
  ])
  expect(await lines('tally_projector_freshness_seconds')).toHaveLength(1)
})

test('the age of a watermark grows while nothing raises it', async () => {
  const { metrics, lines } = given()
  metrics.freshness.set({ topic, partition: 0 }, 7)
  const age = async () => Number((await lines('tally_projector_freshness_seconds'))[0]?.split(' ')[1])
  const before = await age()
  expect(before).toBeGreaterThan(7)
  expect(await age()).toBeGreaterThan(before)
})
