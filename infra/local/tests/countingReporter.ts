import type { Reporter, SerializedError, TestModule, TestRunEndReason } from 'vitest/node'

/** How many tests passed and failed. */
export type Count = {
  passed: number
  failed: number
}

/**
 * Counts the tests of a run into `count`. A file that could not be loaded, or whose hooks failed, counts as one failed
 * test if none of its tests failed; so does an error outside of any test, and an interrupted run.
 */
export function countingReporter(count: Count): Reporter {
  return {
    onTestRunEnd(modules, errors, reason) {
      for (const module of modules) countModule(module, count)
      count.failed += errors.length
      if (reason === 'interrupted') count.failed += 1
    },
  } satisfies {
    onTestRunEnd: (m: readonly TestModule[], e: readonly SerializedError[], r: TestRunEndReason) => void
  }
}

function countModule(module: TestModule, count: Count): void {
  let failedHere = 0
  for (const test of module.children.allTests()) {
    const { state } = test.result()
    if (state === 'passed') count.passed += 1
    if (state === 'failed') failedHere += 1
  }
  const isBroken = !module.ok() || module.errors().length > 0
  count.failed += isBroken ? Math.max(1, failedHere) : failedHere
}
