import type { Wrong } from '../checks/wrong.ts'

export type Round = {
  fault: string
  /** Records that Kafka got from the beginning of the fault until all of them were counted. */
  records: number
  compared: number
  wrong: number
  lastedMs: number
  /** From the end of the fault until every event's `asOf` was later than that; undefined: never. */
  recoveryMs: number | undefined
  /** The whole round, with the quiet time before and the comparison after the fault. */
  tookMs: number
}

const counts = {
  records: 0,
  badRecords: 0,
  answers: 0,
  unchanged: 0,
  unavailable: 0,
  wholeBatches: 0,
  claims: 0,
  wholeClaims: 0,
  etags: 0,
  backAcrossProcesses: 0,
}

export type Outcome = typeof counts & { seed: number; rounds: Round[]; wrongs: Wrong[] }

/** The outcome of several pieces of one run, as one. */
export function sumOutcomes(seed: number, pieces: Outcome[]): Outcome {
  const sums = Object.fromEntries(
    Object.keys(counts).map(name => [
      name,
      pieces.reduce((sum, piece) => sum + piece[name as keyof typeof counts], 0),
    ]),
  ) as typeof counts
  return {
    seed,
    rounds: pieces.flatMap(({ rounds }) => rounds),
    wrongs: pieces.flatMap(({ wrongs }) => wrongs),
    ...sums,
  }
}

export function lineOf({ records, compared, wrong, lastedMs, recoveryMs, tookMs }: Round): string {
  const fresh = recoveryMs === undefined ? 'never fresh' : `fresh ${seconds(recoveryMs)} s after`
  return `   ${records} records, ${compared} answers compared, ${wrong} wrong, lasted ${seconds(lastedMs)} s, ${fresh}, ${seconds(tookMs)} s in all`
}

const seconds = (ms: number) => (ms / 1000).toFixed(1)
