import { setTimeout as sleep } from 'node:timers/promises'
import { type Producer, topicNames } from '@tally/kafka'
import { ask } from '@tally/testkit/processes/http'
import type { TestRecord } from '@tally/testkit/processes/tally'
import type { Preloaded } from '../data/preload.ts'
import { percentile } from '../report/figures.ts'
import type { Bench } from '../run/bench.ts'
import { atPace } from '../run/pace.ts'
import type { Sample } from '../run/rounds.ts'
import type { RunningTally } from './tally.ts'

export type Watch = {
  tally: RunningTally
  data: Preloaded
  producer: Producer
  nextOrder: (event: number) => TestRecord
  perSecond: number
  /** One of so many records is of the event that is watched; the others are spread over the other events. */
  watchedEvery: number
  round: number
}

/** The event that is watched in a round, and a question about it: how many orders its KPIs count. */
function watchedEvent({ tally, data, round }: Pick<Watch, 'tally' | 'data' | 'round'>) {
  const eventIds = data.count.eventIds()
  const watched = round % eventIds.length
  const watchedId = eventIds[watched] as string
  const { pathname } = new URL(tally.addressOf(watchedId))
  return {
    watched,
    async ordersCounted(): Promise<number> {
      const path = `${pathname}/analytics/kpis`
      const { body } = await ask(tally.query.address, path, { token: tally.tokenOf(watchedId) })
      return body.data.totalOrders
    },
  }
}

/**
 * One round: sends for a while and watches one event's orders come in; each round another event. `median` and `p99` are
 * from the call that hands a record to the Kafka client until an HTTP answer counts it; `reads`: how often it asked.
 * The answers have to be checked afterwards.
 */
export async function watchFreshness(bench: Bench, watch: Watch): Promise<Sample> {
  const { data, producer, nextOrder, perSecond, watchedEvery } = watch
  const seconds = bench.options.seconds * 2
  const topic = topicNames(data.topicPrefix).orders
  const { watched, ordersCounted } = watchedEvent(watch)
  const others = data.shape.ordersByEvent.map((_, event) => event).filter(event => event !== watched)

  const before = await ordersCounted()
  let reads = 1
  const sentAt: number[] = []
  const took: number[] = []
  const acknowledged: number[] = []
  const sends: Promise<void>[] = []
  const send = (index: number) => {
    const isWatched = index % watchedEvery === 0
    const record = nextOrder(isWatched ? watched : (others[index % others.length] as number))
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
    reads += 1
    const now = performance.now()
    while (took.length < counted) took.push(now - (sentAt[took.length] as number))
  }
  await sending
  await Promise.all(sends)
  const half = percentile(acknowledged, 0.5)
  return {
    median: percentile(took, 0.5),
    p99: percentile(took, 0.99),
    acknowledged: half,
    sent: total,
    reads,
  }
}
