import { openProducer, topicNames } from '@tally/kafka'
import type { TestRecord } from '@tally/testkit/processes/tally'
import type { Preloaded } from '../data/preload.ts'
import type { Bench } from './bench.ts'
import { atPace } from './pace.ts'

/** A producer waits this long for more records, as one of many tills would. */
const lingerMs = 10
/** A flow of which more than this share lies in the producer for longer is slower than it says. */
const lateMs = 1_000
const mostLate = 0.05

/** Orders that keep coming in while something else is measured. */
export type Flow = {
  /** Ends it; resolves once Kafka has all of them, or rejects if Kafka could not keep up. */
  stop: () => Promise<void>
}

/** Sends one order of each event (all by default) in turn, at a pace, and counts them; the list may change. */
export async function startFlow(
  bench: Bench,
  data: Preloaded,
  {
    events = data.shape.ordersByEvent.map((_, event) => event),
    perSecond,
    next,
  }: { events?: number[]; perSecond: number; next: (event: number) => TestRecord },
): Promise<Flow> {
  const producer = await openProducer(bench.kafka)
  const topic = topicNames(data.topicPrefix).orders
  const ending = new AbortController()
  const sends = new Set<Promise<void>>()
  let [sent, late] = [0, 0]
  const send = async (first: number, end: number) => {
    const records = []
    for (let index = first; index < end; index++) {
      const { type, value } = next(events[index % events.length] as number)
      data.count.add({ type, value })
      records.push({ topic, key: value.eventId, value: JSON.stringify(value) })
    }
    const sentAt = performance.now()
    await producer.send(records)
    sent += 1
    if (performance.now() - sentAt > lateMs) late += 1
  }
  const running = atPace(perSecond, { everyMs: lingerMs, signal: ending.signal }, (first, end) => {
    const sending = send(first, end)
    sends.add(sending)
    // A failure stays, for `stop`.
    sending.then(
      () => sends.delete(sending),
      () => {},
    )
  })
  return {
    async stop() {
      ending.abort()
      await running
      await Promise.all(sends)
      await producer.close()
      if (late > mostLate * sent)
        throw new Error(
          `Kafka could not keep up with ${perSecond} orders/s: ${late} of ${sent} sends were late`,
        )
    },
  }
}
