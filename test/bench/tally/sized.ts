import { sql } from 'kysely'
import type { Preloaded } from '../data/preload.ts'
import type { Bench } from '../run/bench.ts'
import { openShared } from './shared.ts'
import { type RunningTally, startTally } from './tally.ts'

/** An event, and how many orders it has. */
type SizedEvent = { eventId: string; orders: number }
export type Sized = { tally: RunningTally; data: Preloaded; events: SizedEvent[] }

/** Tally over events of very different sizes: 1,000 orders up to 1,000,000, with --orders more or less. */
export const sized = openShared(start)

async function start(bench: Bench, onRelease: (release: () => Promise<void>) => void): Promise<Sized> {
  const { orders, seed } = bench.options
  const sizes = [orders / 200, orders / 20, orders / 2, orders * 5]
  const ordersByEvent = sizes.map(size => Math.max(1, Math.floor(size)))
  const data = await bench.data('sized', () => ({ seed: seed + 1, ordersByEvent }))
  const tally = await startTally(bench, data)
  onRelease(async () => {
    bench.forget('sized')
    await tally.stop()
  })
  await tally.untilAnswered()
  await tally.check()
  // As autovacuum does within minutes: it would come in the middle of one contender's turn.
  await sql`vacuum analyze`.execute(tally.db)
  const events = data.count
    .eventIds()
    .map((eventId, index) => ({ eventId, orders: ordersByEvent[index] ?? 0 }))
  return { tally, data, events }
}
