import { openProducer } from '@tally/kafka'
import { openLiveOrders } from '../data/live.ts'
import { evenShape } from '../data/shape.ts'
import { alternate, measured } from '../run/rounds.ts'
import type { Row } from '../run/row.ts'
import { startTally } from '../tally/tally.ts'
import { watchFreshness } from '../tally/watchFreshness.ts'

const eventCount = 20
const menuItems = 300
const perSecond = 50 * eventCount

/** The largest menus known have 300 items; each sale writes all of its day and area to Redis. */
export const menu: Row = {
  name: 'menu',
  about: 'freshness at 50 orders/s on each of 20 events with 300 menu items',
  async run(bench) {
    const { orders, seed } = bench.options
    const data = await bench.data('menu', () => ({
      ...evenShape(seed + 5, Math.ceil(orders / 10), eventCount),
      days: 1,
      menuItems,
    }))
    const tally = await startTally(bench, data)
    const producer = await openProducer(bench.kafka)
    try {
      await tally.untilAnswered()
      await tally.check()
      const watch = {
        tally,
        data,
        producer,
        nextOrder: openLiveOrders(data),
        perSecond,
        watchedEvery: eventCount,
      }
      let round = 0
      const samples = await alternate(bench, 'menu', {
        live: async () => {
          const sample = await watchFreshness(bench, { ...watch, round: round++ })
          // The records of other events too: one of them is watched next, from its state then.
          await tally.check()
          return sample
        },
      })
      const what = `${perSecond.toLocaleString('en')} records/s, ${menuItems.toLocaleString('en')} items an event`
      return {
        lines: [
          { row: 'menu, freshness', ours: measured(samples.live, 'median', `median, ${what}`, 'ms') },
          {
            row: 'menu, freshness',
            ours: measured(samples.live, 'p99', `p99, ${what}`, 'ms'),
            goal: { of: 'value', bound: 'at most', value: 100 },
          },
        ],
      }
    } finally {
      bench.forget('menu')
      await producer.close()
      await tally.stop()
    }
  },
}
