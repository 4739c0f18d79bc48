import { listenForInterruption } from './interruption.ts'
import { beginRun, runTests } from './tests/runTests.ts'

const [folder, ...wanted] = process.argv.slice(2)
await runTests(wanted, beginRun(listenForInterruption()), { config: `test/${folder}/vitest.config.ts` })
process.exit()
