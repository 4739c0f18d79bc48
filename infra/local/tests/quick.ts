import { execFileSync } from 'node:child_process'
import { join, relative } from 'node:path'
import { createVitest } from 'vitest/node'
import { knownTimes } from './slowestFirst.ts'

const root = join(import.meta.dirname, '../../..')
/** What the related tests may take one after the other; four at a time, with the unit tests, that is two minutes. */
const mostSeconds = 150

/**
 * The files of `npm run test:quick`: unit tests, and those that by their imports depend on what differs from main; of
 * these the fastest first, as far as they are done in two minutes. `left` are the others. A test that starts `tally` as
 * a process does not import what it tests: it is among them only if it differs itself.
 */
export async function quickFiles(): Promise<{ files: string[]; left: string[] }> {
  const vitest = await createVitest('test', { root, watch: false, changed: mainBranch(), reporters: [] })
  const related = await vitest
    .getRelevantTestSpecifications()
    .then(specifications => specifications.map(({ moduleId }) => relative(root, moduleId)))
    .finally(() => vitest.close())
  const times = knownTimes()
  const secondsOf = (file: string) => times[file] ?? 0
  const files: string[] = []
  const left: string[] = []
  let seconds = 0
  for (const file of related.toSorted((one, other) => secondsOf(one) - secondsOf(other))) {
    if (file.endsWith('.unit.test.ts')) continue
    seconds += secondsOf(file)
    ;(seconds <= mostSeconds ? files : left).push(file)
  }
  return { files: ['.unit.test.ts', ...files], left }
}

/** The branch main, or in a clone of another branch that of its origin. */
function mainBranch(): string {
  const exists = (name: string) => {
    try {
      execFileSync('git', ['rev-parse', '--verify', '--quiet', `${name}^{commit}`], { cwd: root })
      return true
    } catch {
      return false
    }
  }
  return exists('main') ? 'main' : 'origin/main'
}
