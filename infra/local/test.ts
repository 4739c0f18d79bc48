import { join } from 'node:path'
import { run } from './command.ts'
import { listenForInterruption } from './interruption.ts'
import { mayBeSlow, mostSeconds } from './tests/mayBeSlow.ts'
import { quickFiles } from './tests/quick.ts'
import { beginRun, runTests } from './tests/runTests.ts'
import { writeTimes } from './tests/slowestFirst.ts'
import { type FileTime, table, tableHead } from './tests/times.ts'

const root = join(import.meta.dirname, '../..')
const testRun = beginRun(listenForInterruption())
const { count, interruption } = testRun

const [option, ...rest] = process.argv.slice(2)
const isTiming = option === '--times'
const filters = isTiming ? rest : process.argv.slice(2)
if (option === '--quick') await runQuick()
else if (filters.length > 0) judge(await runTests(filters, testRun))
else {
  const [times] = await Promise.all([runTests([], testRun), checkSource()])
  judge(times)
  if (isTiming && count.failed === 0) writeTimes(times)
}
process.exit()

/** `npm run test:quick`: types, Biome, unit tests, and what differs from main. */
async function runQuick(): Promise<void> {
  const { files, left } = await quickFiles()
  await Promise.all([runTests(files, testRun), checkSource()])
  if (left.length > 0) console.log(['Related, but left to npm test:', ...left].join('\n'))
}

/** `npm run test:times`: prints how long each file took; one that took too long is a failed test. */
function judge(times: FileTime[]): void {
  if (!isTiming) return
  const sum = (pick: (time: FileTime) => number) =>
    times.reduce((total, time) => total + pick(time), 0).toFixed(0)
  const [all, setUp, processor] = [
    sum(({ seconds }) => seconds),
    sum(time => time.setUp),
    sum(time => time.processor),
  ]
  console.log([tableHead, ...table(times)].join('\n'))
  console.log(`${times.length} files: ${all} s, ${setUp} s of set-up, ${processor} s of the processor`)
  for (const { file, seconds } of times) {
    if (seconds <= mostSeconds || Object.keys(mayBeSlow).some(start => file.startsWith(start))) continue
    count.failed += 1
    console.log(
      `${file} took ${seconds.toFixed(1)} s: make it faster than ${mostSeconds} s, or say why not in infra/local/tests/mayBeSlow.ts`,
    )
  }
}

/** While the tests wait for their servers. */
async function checkSource(): Promise<void> {
  await check('types', 'tsc', ['--noEmit', '-p', '.'])
  await check('lint', 'biome', ['check', '.'])
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
