import { join } from 'node:path'
import { run } from './command.ts'
import { listenForInterruption } from './interruption.ts'
import { beginRun, runTests } from './tests/runTests.ts'
import { type FileTime, table, tableHead } from './tests/times.ts'

const root = join(import.meta.dirname, '../..')
const testRun = beginRun(listenForInterruption())
const { count, interruption } = testRun

const isTiming = process.argv[2] === '--times'
const filters = process.argv.slice(isTiming ? 3 : 2)
if (filters.length === 0) {
  await check('types', 'tsc', ['--noEmit', '-p', '.'])
  await check('lint', 'biome', ['check', '.'])
}
if (!interruption.signal.aborted) {
  const times = await runTests(filters, testRun)
  if (isTiming) printTimes(times)
}
process.exit()

/** `npm run test:times`: prints how long each file took. */
function printTimes(times: FileTime[]): void {
  const sum = (pick: (time: FileTime) => number) =>
    times.reduce((total, time) => total + pick(time), 0).toFixed(0)
  const [all, setUp, processor] = [
    sum(({ seconds }) => seconds),
    sum(time => time.setUp),
    sum(time => time.processor),
  ]
  console.log([tableHead, ...table(times)].join('\n'))
  console.log(`${times.length} files: ${all} s, ${setUp} s of set-up, ${processor} s of the processor`)
}

/** Runs a check of the whole checkout and counts it as one test; prints what it found. */
async function check(name: string, program: string, args: string[]): Promise<void> {
  const { signal } = interruption
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
