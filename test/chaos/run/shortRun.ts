import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { System } from '../system/system.ts'
import type { Outcome } from './outcome.ts'
import { runFaults } from './rounds.ts'
import type { RunWanted } from './run.ts'
import { tableOf } from './table.ts'

/**
 * A fault run that is a test: `expectOutcome` judges it. Its folder is removed if that is content; else the error has
 * the log of the run and names the folder.
 */
export async function shortRun<On extends System>(
  wanted: Pick<RunWanted<On>, 'start' | 'seed' | 'kinds'>,
  expectOutcome: (outcome: Outcome) => void,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tally-faults-'))
  const log: string[] = []
  try {
    const load = { count: wanted.kinds.length, rate: 100, readers: 1 }
    const outcome = await runFaults({ ...wanted, ...load, folder, log: line => void log.push(line) })
    console.info(tableOf(outcome))
    expectOutcome(outcome)
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${log.join('\n')}\nlogs in ${folder}`)
  }
}
