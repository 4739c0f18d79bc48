import { openProducer } from '@tally/kafka'
import { openLiveOrders } from '../data/live.ts'
import { evenShape } from '../data/shape.ts'
import { alternate, measured } from '../run/rounds.ts'
import type { Row } from '../run/row.ts'
import { startTally } from '../tally/tally.ts'
import { watchFreshness } from '../tally/watchFreshness.ts'

const perSecond = 500
const eventCount = 200
/** Every tenth record is of the event that is watched; the others keep all partitions busy. */
const watchedEvery = 10

/** From the call that hands a record to the Kafka client until an HTTP answer counts it. */
export const freshness: Row = {
  name: 'freshness',
  about: 'produced to Kafka until answered over HTTP, at 500 records/s of 200 events',
  async run(bench) {
    const { orders, seed } = bench.options
    const data = await bench.data('live', () => evenShape(seed + 2, Math.ceil(orders / 10), eventCount))
    const tally = await startTally(bench, data)
    const producer = await openProducer(bench.kafka)
    try {
      await tally.untilAnswered()
      await tally.check()
      const watch = { tally, data, producer, nextOrder: openLiveOrders(data), perSecond, watchedEvery }
      let round = 0
      const samples = await alternate(bench, 'freshness', {
        async live() {
          const sample = await watchFreshness(bench, { ...watch, round: round++ })
          // The records of other events too: one of them is watched next, from its state then.
          await tally.check()
          return sample
        },
      })
      const figure = (name: string) => measured(samples.live, name, `${name}, ${perSecond} records/s`, 'ms')
      const goal = (value: number) => ({ of: 'value', bound: 'at most', value }) as const
      return {
        lines: [
          { row: 'freshness', ours: figure('median'), goal: goal(10) },
          { row: 'freshness', ours: figure('p99'), goal: goal(40) },
          { row: 'freshness, Kafka has it', ours: figure('acknowledged') },
        ],
        notes: [
          'freshness: one client asks for the kpis of one event again and again, 1 ms after each answer; that wait is part of the figure',
        ],
      }
    } finally {
      bench.forget('live')
      await producer.close()
      await tally.stop()
    }
  },
}
