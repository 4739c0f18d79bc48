import { ask } from '@tally/testkit/processes/http'
import { runTally } from '@tally/testkit/processes/process'
import { sql } from 'kysely'
import type { Count } from '../data/count.ts'
import type { Bench } from '../run/bench.ts'
import { checkAnswers } from './answers.ts'
import { tableLines } from './tables.ts'
import type { RunningTally } from './tally.ts'

/**
 * Removes the years before a calendar year by `tally events remove`, then vacuums; notes how long each took and the
 * sizes after it. Throws if an answer about the oldest or the newest year that is left is wrong, if one about a removed
 * year is not a 404, or if `tally verify` finds a difference.
 */
export async function removeBefore(
  bench: Bench,
  tally: RunningTally,
  {
    calendarYear,
    removed,
    left,
    note,
  }: { calendarYear: number; removed: Count[]; left: Count[]; note: (text: string) => void },
): Promise<void> {
  const timed = async (what: string, work: () => Promise<unknown>) => {
    const began = performance.now()
    await work()
    note(`${what} took ${((performance.now() - began) / 1000).toFixed(1)} s`)
  }
  const run = async (...command: string[]) => {
    const { code, stderr } = await runTally(command, tally.env)
    if (code !== 0) throw new Error(`tally ${command.join(' ')} ended with ${code}: ${stderr.slice(-1_000)}`)
  }
  await timed('tally events list', () => run('events', 'list'))
  await timed(`tally events remove --older-than ${calendarYear}-01-01`, () =>
    run('events', 'remove', '--older-than', `${calendarYear}-01-01`, '--yes'),
  )
  for (const line of await tableLines(bench, tally.db)) note(`after the removal: ${line}`)
  await timed('vacuum analyze', () => sql`vacuum analyze`.execute(tally.db))
  for (const line of await tableLines(bench, tally.db)) note(`after vacuum: ${line}`)
  await timed('tally verify, without a difference,', () => run('verify'))

  await tally.check()
  const [oldest] = left
  if (oldest !== undefined) await checkAnswers(oldest, tally)
  for (const count of removed) {
    for (const eventId of count.eventIds()) {
      const { origin, pathname } = new URL(tally.addressOf(eventId))
      const { status } = await ask(origin, `${pathname}/analytics/kpis`, { token: tally.tokenOf(eventId) })
      if (status !== 404) throw new Error(`the removed event ${eventId} answers ${status}`)
    }
  }
}
