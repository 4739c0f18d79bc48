import { parseArgs } from 'node:util'
import { parts, scan } from '../../test/security/main.ts'
import { listenForInterruption } from './interruption.ts'
import { beginRun, runTests } from './tests/runTests.ts'

const text = { type: 'string' } as const
const { values } = parseArgs({ options: { only: text, minutes: text, seed: text } })
const wanted = [...parts, 'floods']
if (values.only !== undefined && !wanted.includes(values.only))
  throw new Error(`--only takes ${wanted.join(', ')}, not '${values.only}'`)
for (const name of ['minutes', 'seed'] as const)
  if (values[name] !== undefined && !(Number(values[name]) >= 0))
    throw new Error(`--${name} takes a number, not '${values[name]}'`)
const run = beginRun(listenForInterruption())
const { signal } = run.interruption
if (values.only !== 'floods') {
  const wrong = await scan(values, signal)
  // A run without a pass counts as failed.
  if (wrong === 0) run.count.passed += 1
  run.count.failed += wrong
}
if ((values.only ?? 'floods') === 'floods' && !signal.aborted)
  await runTests([], run, { config: 'test/security/vitest.config.ts' })
process.exit()
