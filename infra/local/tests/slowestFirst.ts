import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { TestSequencer, TestSpecification } from 'vitest/node'
import type { FileTime } from './times.ts'

const root = join(import.meta.dirname, '../../..')
const file = join(import.meta.dirname, 'times.json')

/** Seconds that each test file took when `npm run test:times` was last run, by path; what is missing there is new. */
export const knownTimes = (): Record<string, number> => JSON.parse(readFileSync(file, 'utf8'))

export function writeTimes(times: readonly FileTime[]): void {
  const entries = times
    .map(({ file, seconds }): [string, number] => [file, Math.round(seconds * 10) / 10])
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`)
}

/**
 * Starts the slowest files first, so that no long one is left at the end alone, and files of one project one after the
 * other, because they share their modules. Files that are new start as if they were slow.
 */
export class SlowestFirst implements TestSequencer {
  private readonly times = knownTimes()

  async shard(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    return specifications
  }

  async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    return specifications.toSorted(
      (one, other) =>
        rank(one) - rank(other) ||
        this.secondsOf(other) - this.secondsOf(one) ||
        (one.moduleId < other.moduleId ? -1 : 1),
    )
  }

  private secondsOf({ moduleId }: TestSpecification): number {
    return this.times[relative(root, moduleId)] ?? 60
  }
}

const order = ['model', 'servers', 'mocking', 'unit']
const rank = ({ project }: TestSpecification) => order.indexOf(project.name)
