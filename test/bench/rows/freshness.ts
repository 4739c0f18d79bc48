import { setTimeout as sleep } from 'node:timers/promises'
import { openProducer, type Producer, topicNames } from '@tally/kafka'
import { ask } from '@tally/testkit/processes/http'
import type { TestRecord } from '@tally/testkit/processes/tally'
import { openLiveOrders } from '../data/live.ts'
import type { Preloaded } from '../data/preload.ts'
import { evenShape } from '../data/shape.ts'
import { percentile } from '../report/figures.ts'
import type { Bench } from '../run/bench.ts'
import { atPace } from '../run/pace.ts'
import { alternate, measured, type Sample } from '../run/rounds.ts'
import type { Row } from '../run/row.ts'
import { type RunningTally, startTally } from '../tally/tally.ts'

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
      const events = openLiveOrders(data)
      let round = 0
      const samples = await alternate(bench, 'freshness', {
        live: () => watchOne(bench, { tally, data, producer, events, round: round++ }),
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

type Watch = {
  tally: RunningTally
  data: Preloaded
  producer: Producer
  events: (event: number) => TestRecord
  round: number
}

/** One round: sends for a while and watches one event's orders come in; each round another event. */
async function watchOne(bench: Bench, { tally, data, producer, events, round }: Watch): Promise<Sample> {
  const seconds = bench.options.seconds * 2
  const topic = topicNames(data.topicPrefix).orders
  const eventIds = data.count.eventIds()
  const watched = round % eventIds.length
  const watchedId = eventIds[watched] as string
  const others = eventIds.map((_, event) => event).filter(event => event !== watched)
  const { pathname } = new URL(tally.addressOf(watchedId))
  const ordersCounted = async (): Promise<number> => {
    const path = `${pathname}/analytics/kpis`
    const { body } = await ask(tally.query.address, path, { token: tally.tokenOf(watchedId) })
    return body.data.totalOrders
  }

  const before = await ordersCounted()
  const sentAt: number[] = []
  const took: number[] = []
  const acknowledged: number[] = []
  const sends: Promise<void>[] = []
  const send = (index: number) => {
    const isWatched = index % watchedEvery === 0
    const record = events(isWatched ? watched : (others[index % others.length] as number))
    data.count.add(record)
    if (isWatched) sentAt.push(performance.now())
    const outgoing = { topic, key: record.value.eventId, value: JSON.stringify(record.value) }
    const began = performance.now()
    sends.push(producer.send([outgoing]).then(() => void acknowledged.push(performance.now() - began)))
  }
  const total = seconds * perSecond
  const sending = atPace(perSecond, { total }, (first, end) => {
    for (let index = first; index < end; index++) send(index)
  })
  for (
    const until = Date.now() + seconds * 1000 + 30_000;
    took.length < total / watchedEvery;
    await sleep(1)
  ) {
    bench.signal.throwIfAborted()
    if (Date.now() > until) throw new Error('records that were sent are not answered after 30 s')
    const counted = (await ordersCounted()) - before
    const now = performance.now()
    while (took.length < counted) took.push(now - (sentAt[took.length] as number))
  }
  await sending
  await Promise.all(sends)
  // Counts the records of other events too: one of them is watched next, from its state then.
  await tally.check()
  const half = percentile(acknowledged, 0.5)
  return { median: percentile(took, 0.5), p99: percentile(took, 0.99), acknowledged: half }
}
