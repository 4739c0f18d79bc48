import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readme, readmeWithTable } from './valuesTable.ts'

test("the table of values in the chart's README is that of values.schema.json and values.yaml", () => {
  const text = readFileSync(readme, 'utf8')
  expect(text, 'npm run chart:readme writes it').toBe(readmeWithTable(text))
  expect(text).toContain('| `projector.autoscaling.minReplicas` | `1` |')
})
