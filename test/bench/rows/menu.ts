import { openProducer } from '@tally/kafka'
import { openLiveOrders } from '../data/live.ts'
import { evenShape } from '../data/shape.ts'
import type { Bench } from '../run/bench.ts'
import { redisInfo } from '../run/redisInfo.ts'
import { alternate, measured, type Sample } from '../run/rounds.ts'
import type { Row } from '../run/row.ts'
import { startTally } from '../tally/tally.ts'
import { type Watch, watchedEvent, watchFreshness } from '../tally/watchFreshness.ts'

const eventCount = 20
const menuItems = 2_000
const perSecond = 50 * eventCount

/** A sale changes one item of thousands: what it writes to Redis must not be the whole menu. */
export const menu: Row = {
  name: 'menu',
  about: 'freshness and bytes written to Redis at 50 orders/s on each of 20 events with 2,000 menu items',
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
        live: () => withRedisBytes(bench, { ...watch, round: round++ }),
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
          {
            row: 'menu, to Redis',
            ours: measured(samples.live, 'bytes', 'all commands but reads of the client, a record', 'bytes'),
            goal: { of: 'value', bound: 'at most', value: 2_000 },
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

/** How many reads tell what one of them costs. */
const trialReads = 500

/**
 * `bytes`: what Redis received for each record, without the reads of the one client, which asks the more often the
 * faster it is answered.
 */
async function withRedisBytes(bench: Bench, watch: Watch): Promise<Sample> {
  const { ordersCounted } = watchedEvent(watch)
  const beforeReads = await bytesReceived(bench)
  for (let read = 0; read < trialReads; read++) await ordersCounted()
  const before = await bytesReceived(bench)
  const aRead = (before - beforeReads) / trialReads
  const sample = await watchFreshness(bench, watch)
  const { sent = Number.NaN, reads = Number.NaN } = sample
  const bytes = ((await bytesReceived(bench)) - before - reads * aRead) / sent
  // The records of other events too: one of them is watched next, from its state then.
  await watch.tally.check()
  return { ...sample, bytes }
}

const bytesReceived = (bench: Bench): Promise<number> => redisInfo(bench, 'stats', 'total_net_input_bytes')
