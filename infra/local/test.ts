import { join } from 'node:path'
import { startVitest, type Vitest } from 'vitest/node'
import { run } from './command.ts'
import { type Interruption, listenForInterruption } from './interruption.ts'
import { type Count, countingReporter } from './tests/countingReporter.ts'

const root = join(import.meta.dirname, '../..')
const count: Count = { passed: 0, failed: 0 }
const interruption = listenForInterruption()
// Also when something quits the process on its way: the closing line is always the last.
process.on('exit', close)

const filters = process.argv.slice(2)
if (filters.length === 0) {
  await check('types', 'tsc', ['--noEmit', '-p', '.'], interruption)
  await check('lint', 'biome', ['check', '.'], interruption)
}
if (!interruption.signal.aborted) await runTests(filters, interruption)
process.exit()

/** Runs a check of the whole checkout and counts it as one test; prints what it found. */
async function check(name: string, program: string, args: string[], { signal }: Interruption): Promise<void> {
  if (signal.aborted) return
  const began = performance.now()
  const path = join(root, 'node_modules/.bin', program)
  const took = () => `(${((performance.now() - began) / 1000).toFixed(1)} s)`
  try {
    await run(path, args, { cwd: root, signal, errorLines: 100 })
    count.passed += 1
    console.log(`${name}: fine ${took()}`)
  } catch (error) {
    count.failed += 1
    console.log(`${name}: failed ${took()}\n${error instanceof Error ? error.message : error}`)
  }
}

async function runTests(wanted: string[], { signal, keepSignals }: Interruption): Promise<void> {
  let vitest: Vitest | undefined
  const onInit = (started: Vitest) => {
    vitest = started
    keepSignals()
  }
  // Ends the tests and, by the global set-up's end, the servers.
  signal.addEventListener('abort', () => void vitest?.close())
  const reporters = ['default', { ...countingReporter(count), onInit }]
  try {
    const finished = await startVitest(wanted, { root, watch: false, run: true, reporters })
    await finished.close()
  } catch (error) {
    count.failed += 1
    console.error(error)
  }
}

function close(): void {
  if (interruption.signal.aborted || count.passed + count.failed === 0) count.failed += 1
  process.exitCode = count.failed === 0 && count.passed > 0 ? 0 : interruption.exitCode() || 1
  process.stdout.write(`${count.passed} passed, ${count.failed} failed\n`)
}
