import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '#infra/command.ts'
import { promtool } from './programs.ts'

const folder = join(import.meta.dirname, '../../infra/monitoring')

test('the configuration of the compose profile is valid, with its rules', async () => {
  const { output } = await run(await promtool(), ['check', 'config', join(folder, 'prometheus.yaml')], {
    errorLines: 100,
  })
  expect(output).toMatch(/prometheus\.yaml is valid.*SUCCESS: \d+ rules found/s)
}, 600_000)

test('every alert fires when it should, and only then', async () => {
  const { output } = await run(await promtool(), ['test', 'rules', join(folder, 'alerts.test.yaml')], {
    errorLines: 100,
  })
  expect(output).toContain('SUCCESS')
}, 600_000)
