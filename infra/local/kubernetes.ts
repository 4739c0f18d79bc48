import { listenForInterruption } from './interruption.ts'
import { beginRun, runTests } from './tests/runTests.ts'

await runTests(process.argv.slice(2), beginRun(listenForInterruption()), {
  config: 'test/kubernetes/vitest.config.ts',
})
process.exit()
