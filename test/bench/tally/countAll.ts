import type { Preloaded } from '../data/preload.ts'
import type { Bench } from '../run/bench.ts'
import { momentOf, watchProgress } from './progress.ts'
import { type RunningTally, withTally } from './tally.ts'

/** A Tally that has counted all. `at`: the moment (epoch milliseconds) at which so many records were applied. */
type Counted = { tally: RunningTally; answeredAtMs: number; at: (records: number) => number }

/** Lets one projector count a data set, and works with it then. */
export function countAll<Result>(
  bench: Bench,
  data: Preloaded,
  work: (counted: Counted) => Promise<Result>,
): Promise<Result> {
  return withTally(bench, data, async tally => {
    const progress = watchProgress(tally.db, data)
    try {
      const answeredAtMs = await tally.untilAnswered()
      const notes = await progress.stop()
      return await work({ tally, answeredAtMs, at: records => momentOf(notes, records) })
    } finally {
      await progress.stop()
    }
  })
}
