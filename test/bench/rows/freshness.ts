import { openProducer } from '@tally/kafka'
import { openLiveOrders } from '../data/live.ts'
import { evenShape, type Shape } from '../data/shape.ts'
import type { Bench } from '../run/bench.ts'
import { alternate, measured, type Sample } from '../run/rounds.ts'
import { type Row, valueAtMost } from '../run/row.ts'
import { withTally } from '../tally/tally.ts'
import { watchFreshness } from '../tally/watchFreshness.ts'

const perSecond = 500

/** From the call that hands a record to the Kafka client until an HTTP answer counts it. */
export const freshness: Row = {
  name: 'freshness',
  about: 'produced to Kafka until answered over HTTP, at 500 records/s of 200 events',
  async run(bench) {
    const { orders, seed } = bench.options
    const shape = evenShape(seed + 2, Math.ceil(orders / 10), 200)
    // Every tenth record is of the event that is watched; the others keep all partitions busy.
    const live = await watchRounds(bench, 'freshness', { shape, perSecond, watchedEvery: 10 })
    const figure = (name: string) => measured(live, name, `${name}, ${perSecond} records/s`, 'ms')
    return {
      lines: [
        { row: 'freshness', ours: figure('median'), goal: valueAtMost(10) },
        { row: 'freshness', ours: figure('p99'), goal: valueAtMost(40) },
        { row: 'freshness, Kafka has it', ours: figure('acknowledged') },
      ],
      notes: [
        'freshness: one client asks for the kpis of one event again and again, 1 ms after each answer; that wait is part of the figure',
      ],
    }
  },
}

const events = 20
const menuItems = 300

/** The largest menus known have 300 items; each sale writes all of its day and area to Redis. */
export const menu: Row = {
  name: 'menu',
  about: 'freshness at 50 orders/s on each of 20 events with 300 menu items',
  async run(bench) {
    const { orders, seed } = bench.options
    const shape = { ...evenShape(seed + 5, Math.ceil(orders / 10), events), days: 1, menuItems }
    const perSecond = 50 * events
    const live = await watchRounds(bench, 'menu', { shape, perSecond, watchedEvery: events })
    const what = `${perSecond.toLocaleString('en')} records/s, ${menuItems} items an event`
    const figure = (name: string) => measured(live, name, `${name}, ${what}`, 'ms')
    return {
      lines: [
        { row: 'menu, freshness', ours: figure('median') },
        { row: 'menu, freshness', ours: figure('p99'), goal: valueAtMost(100) },
      ],
    }
  },
}

type Watched = { shape: Shape; perSecond: number; watchedEvery: number }

async function watchRounds(bench: Bench, row: string, { shape, ...of }: Watched): Promise<Sample[]> {
  const data = await bench.data(row, () => shape)
  const samples = await withTally(bench, data, async tally => {
    const producer = await openProducer(bench.kafka)
    try {
      await tally.untilAnswered()
      await tally.check()
      const watch = { tally, data, producer, nextOrder: openLiveOrders(data), ...of }
      let round = 0
      return await alternate(bench, row, {
        async live() {
          const sample = await watchFreshness(bench, { ...watch, round: round++ })
          // The records of other events too: one of them is watched next, from its state then.
          await tally.check()
          return sample
        },
      })
    } finally {
      bench.forget(row)
      await producer.close()
    }
  })
  return samples.live
}
