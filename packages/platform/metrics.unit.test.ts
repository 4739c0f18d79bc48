import { Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createHistogram } from './metrics.ts'

const described = { name: 'seconds', help: 'Time to answer', buckets: [0.001, 0.02, 1] }
const values = [0.0005, 0.001, 0.0011, 0.02, 0.5, 3]

test('a histogram with labels is exported as prom-client exports its own', async () => {
  const [ours, theirs] = [new Registry(), new Registry()]
  const series = createHistogram<'endpoint' | 'outcome'>(ours, described)
  const expected = new Histogram({ ...described, labelNames: ['endpoint', 'outcome'], registers: [theirs] })
  for (const labels of [
    { endpoint: 'getKpis', outcome: 'answered' },
    { endpoint: 'getEvent', outcome: 'failed' },
  ]) {
    const observer = series(labels)
    for (const value of values) {
      observer.observe(value)
      expected.observe(labels, value)
    }
  }
  expect(await ours.metrics()).toBe(await theirs.metrics())
})

test('a histogram without labels is exported as prom-client exports its own', async () => {
  const [ours, theirs] = [new Registry(), new Registry()]
  const series = createHistogram(ours, described)({})
  const expected = new Histogram({ ...described, registers: [theirs] })
  expect(await ours.metrics()).toBe(await theirs.metrics())
  for (const value of values) {
    series.observe(value)
    expected.observe(value)
  }
  expect(await ours.metrics()).toBe(await theirs.metrics())
})
