import { expect, test } from 'vitest'
import type { Line } from '../run/row.ts'
import { isReached, tableOf } from './table.ts'

const rate: Line = {
  row: 'projector',
  ours: { what: 'tally', unit: 'records/s', rounds: [30_000, 28_000, 29_000] },
  against: { what: 'bulk insert', unit: 'records/s', rounds: [60_000, 56_000, 50_000] },
  goal: { of: 'ratio', bound: 'at least', value: 0.6 },
}
const latency: Line = {
  row: 'freshness',
  ours: { what: 'p99', unit: 'ms', rounds: [59.5] },
  goal: { of: 'value', bound: 'at most', value: 60 },
}

test('the table has medians, the median of the ratios, the goal and whether it is reached', () => {
  expect(tableOf([rate, latency])).toBe(
    `
| row       | measured |                  | against     |                  | ratio | goal    | reached |
|-----------|----------|-----------------:|-------------|-----------------:|------:|---------|---------|
| projector | tally    | 29,000 records/s | bulk insert | 56,000 records/s |  0.50 | ≥ 0.6   | no      |
| freshness | p99      |          59.5 ms |             |                  |       | ≤ 60 ms | yes     |
`.trim(),
  )
})

test('a value on the bound reaches the goal; a line without a goal reaches none', () => {
  expect(isReached({ ...rate, goal: { of: 'ratio', bound: 'at least', value: 0.5 } })).toBe(true)
  expect(isReached({ ...latency, goal: { of: 'value', bound: 'at most', value: 59 } })).toBe(false)
  expect(isReached({ row: 'hot', ours: latency.ours })).toBeUndefined()
})
