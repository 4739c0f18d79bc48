import type { Bench } from './bench.ts'
import type { Preloaded } from './data/preload.ts'
import { type RunningTally, startTally } from './tally.ts'

/** An event, and how many orders it has. */
export type SizedEvent = { eventId: string; orders: number }

/**
 * Runs Tally over events of very different sizes: 1,000 orders up to 1,000,000, with --orders more or less. Rows that
 * ask for it one after the other share one: filling it takes longest. `release` when the last one is done.
 */
export function openSized() {
  let running: Promise<Sized> | undefined
  return {
    get(bench: Bench): Promise<Sized> {
      running ??= start(bench)
      return running
    },
    async release(): Promise<void> {
      const stopping = running
      running = undefined
      await stopping?.then(({ tally }) => tally.stop())
    },
  }
}

export type Sized = { tally: RunningTally; data: Preloaded; events: SizedEvent[] }

async function start(bench: Bench): Promise<Sized> {
  const { orders, seed } = bench.options
  const ordersByEvent = [orders / 200, orders / 20, orders / 2, orders * 5].map(size =>
    Math.max(1, Math.floor(size)),
  )
  const data = await bench.data('sized', () => ({ seed: seed + 1, ordersByEvent }))
  const tally = await startTally(bench, data)
  await tally.untilAnswered()
  await tally.check()
  const events = data.count
    .eventIds()
    .map((eventId, index) => ({ eventId, orders: ordersByEvent[index] ?? 0 }))
  return { tally, data, events }
}

export const sized = openSized()
