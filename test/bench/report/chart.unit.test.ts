import { expect, test } from 'vitest'
import type { Point } from '../run/row.ts'
import { chartOf } from './chart.ts'

const points: Point[] = [
  { panel: 'rate', series: 'item counts', orders: 1_000_000, value: 20_000 },
  { panel: 'rate', series: 'item counts', orders: 1_000, value: 10_000 },
  { panel: 'latency', series: 'item counts, p99', orders: 1_000, value: 8 },
]

test('a line joins the points of a series from few orders to many; twice the value is twice as high', () => {
  const chart = chartOf(points)
  expect(chart).toMatch(/^<svg [\s\S]*<\/svg>\n$/)
  expect(chart).toContain('<polyline points="80,125 530,40"')
  expect(chart).toContain('>1,000,000</text>')
  expect(chart).toContain('>item counts, p99</text>')
})

test('without points there is no chart', () => {
  expect(chartOf([])).toBe('')
})
