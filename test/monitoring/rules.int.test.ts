import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '#infra/command.ts'
import { promtool } from './programs.ts'

const folder = join(import.meta.dirname, '../../infra/monitoring')

test('every alert fires when it should, and only then', async () => {
  const { output } = await run(await promtool(), ['test', 'rules', join(folder, 'alerts.test.yaml')], {
    errorLines: 100,
  })
  expect(output).toContain('SUCCESS')
}, 600_000)
