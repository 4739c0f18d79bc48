import { join } from 'node:path'

import { startVitest, type Vitest } from 'vitest/node'
import type { Interruption } from '../interruption.ts'
import { type Count, countingReporter } from './countingReporter.ts'
import { type FileTime, table, tableHead, timesReporter } from './times.ts'

const root = join(import.meta.dirname, '../../..')

/** What a run of tests adds up, and what ends it. */
export type TestRun = { count: Count; interruption: Interruption }

/** Begins a run whose last line is `N passed, N failed`, whatever ends the process. */
export function beginRun(interruption: Interruption): TestRun {
  const count: Count = { passed: 0, failed: 0 }
  process.on('exit', () => {
    if (interruption.signal.aborted || count.passed + count.failed === 0) count.failed += 1
    process.exitCode = count.failed === 0 && count.passed > 0 ? 0 : interruption.exitCode() || 1
    process.stdout.write(`${count.passed} passed, ${count.failed} failed\n`)
  })
  return { count, interruption }
}

/** Runs the test files whose paths contain one of the texts (or all), prints the ten slowest; returns the times. */
export async function runTests(
  wanted: string[],
  { count, interruption: { signal, keepSignals } }: TestRun,
  options: { config?: string } = {},
): Promise<FileTime[]> {
  let vitest: Vitest | undefined
  const onInit = (started: Vitest) => {
    vitest = started
    keepSignals()
  }
  // Ends the tests and, by the global set-up's end, the servers.
  signal.addEventListener('abort', () => void vitest?.close())
  const times: FileTime[] = []
  const reporters = ['default', { ...countingReporter(count), onInit }, timesReporter(times)]
  try {
    const finished = await startVitest(wanted, { ...options, root, watch: false, run: true, reporters })
    await finished.close()
  } catch (error) {
    count.failed += 1
    console.error(error)
  }
  if (times.length > 10) console.log(['The slowest files:', tableHead, ...table(times, 10)].join('\n'))
  return times
}
