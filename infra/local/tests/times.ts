import { join, relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

const root = join(import.meta.dirname, '../../..')
/** How long a test file took: in all, before its first test, and of the processor (processorTime.ts). */
export type FileTime = { file: string; seconds: number; setUp: number; processor: number }

/** Collects the times of a run into `times`. */
export function timesReporter(times: FileTime[]): Reporter {
  return {
    onTestModuleEnd(module: TestModule) {
      const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } =
        module.diagnostic()
      const setUp = environmentSetupDuration + prepareDuration + collectDuration + setupDuration
      const { processorMs = 0 } = module.meta()
      times.push({
        file: relative(root, module.moduleId),
        seconds: (setUp + duration) / 1000,
        setUp: setUp / 1000,
        processor: processorMs / 1000,
      })
    },
  }
}

/** The slowest files first, a line each. */
export function table(times: readonly FileTime[], most = times.length): string[] {
  return times
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, most)
    .map(({ file, seconds, setUp, processor }) =>
      [seconds, setUp, processor]
        .map(number => number.toFixed(1).padStart(7))
        .concat(file)
        .join('  '),
    )
}

export const tableHead = 'seconds  set-up  processor  file'
