import type { Shared } from '../tally/shared.ts'
import type { Bench } from './bench.ts'

/** One row of docs/performance.md; it may print several lines. */
export type Row = {
  name: string
  /** What is measured, for `--list`. */
  about: string
  /** The running Tally that it shares with its neighbours; stopped after the last of them. */
  shares?: Shared<unknown>
  needsWrk?: boolean
  /** Runs only if it is named with --only. */
  onlyIfNamed?: boolean
  run: (bench: Bench) => Promise<Result>
}

export type Unit = 'records/s' | 'requests/s' | 'ms' | 'µs' | 'MiB' | 'bytes'

/** What one contender measured, a value a counted round. */
export type Measured = { what: string; unit: Unit; rounds: number[] }

/** `of`: is the value itself, or its ratio to `against`, to reach the bound? */
export type Goal = { of: 'value' | 'ratio'; bound: 'at least' | 'at most'; value: number }

/** What a ratio to `against` is to be. */
export const ratioAtLeast = (value: number): Goal => ({ of: 'ratio', bound: 'at least', value })
export const ratioAtMost = (value: number): Goal => ({ of: 'ratio', bound: 'at most', value })
/** What the value itself is to be. */
export const valueAtMost = (value: number): Goal => ({ of: 'value', bound: 'at most', value })

/** One line of the table. Without a goal it is there to compare with. */
export type Line = { row: string; ours: Measured; against?: Measured; goal?: Goal }

export type Result = {
  lines: Line[]
  /** Sentences that belong under the table. */
  notes?: string[]
}
