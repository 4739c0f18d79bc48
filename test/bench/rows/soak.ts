import { setTimeout as sleep } from 'node:timers/promises'
import { openProducer, type Producer, topicNames } from '@tally/kafka'
import { ask } from '@tally/testkit/processes/http'
import { randomFrom } from '@tally/testkit/random'
import { openLiveOrders } from '../data/live.ts'
import type { Preloaded } from '../data/preload.ts'
import { eventRecord } from '../data/records.ts'
import { evenShape } from '../data/shape.ts'
import type { Bench } from '../run/bench.ts'
import { startFlow } from '../run/flow.ts'
import { atPace } from '../run/pace.ts'
import { type Row, valueAtMost } from '../run/row.ts'
import { memoryOf } from '../tally/memoryOf.ts'
import { type RunningTally, withTally } from '../tally/tally.ts'

/** With the usual --seconds of 5, an hour. */
const loads = 720
const ordersPerSecond = 350
const pollsPerSecond = 100
const sellingEvents = 40
/** An event closes and another one begins so often: each minute of an hour. */
const changes = 60
const samples = 720
const mostGrowthMib = 5

/** Whether memory still grows after the first quarter of an hour of steady work. */
export const soak: Row = {
  name: 'soak',
  about:
    'one hour of 350 orders/s and 100 polls/s, events coming and going: growth of memory (only if named)',
  onlyIfNamed: true,
  async run(bench) {
    const { orders, seed } = bench.options
    const even = evenShape(seed + 10, Math.ceil(orders / 10), sellingEvents)
    // One organization, whose key asks about the events that come as well.
    const shape = { ...even, days: 1, eventsOfAnOrganization: sellingEvents + changes }
    const data = await bench.data('soak', () => shape)
    return withTally(bench, data, async tally => {
      await tally.untilAnswered()
      await tally.check()
      const { projector, query } = await work(bench, tally, data)
      return {
        lines: [
          { name: 'projector', rss: projector },
          { name: 'query', rss: query },
        ].map(({ name, rss }) => ({
          row: 'soak',
          ours: { what: `${name}, last quarter less second`, unit: 'MiB' as const, rounds: [growthOf(rss)] },
          goal: valueAtMost(mostGrowthMib),
        })),
        notes: [`soak: ${bench.options.seconds * loads} s, once`],
      }
    }).finally(() => bench.forget('soak'))
  },
}

/** Works as long as it takes; resident memory (MiB) at even intervals. */
async function work(bench: Bench, tally: RunningTally, data: Preloaded) {
  const totalMs = bench.options.seconds * loads * 1000
  const producer = await openProducer(bench.kafka)
  const selling = data.shape.ordersByEvent.map((_, event) => event)
  const next = openLiveOrders(data)
  const flow = await startFlow(bench, data, { events: selling, perSecond: ordersPerSecond, next })
  const polls = startPolls(bench, tally, { data, selling })
  const rss = { projector: [] as number[], query: [] as number[] }
  const began = performance.now()
  let changed = 0
  for (let sample = 1; sample <= samples; sample++) {
    await sleep(Math.max(0, began + (sample / samples) * totalMs - performance.now()))
    bench.signal.throwIfAborted()
    rss.projector.push(memoryOf(tally.projector.pid).now)
    rss.query.push(memoryOf(tally.query.pid).now)
    if (sample * changes >= (changed + 1) * samples && sample < samples) {
      await changeEvents(producer, data, selling)
      changed += 1
      bench.log(
        `soak: ${changed} of ${changes}, ${Object.values(rss)
          .map(all => all.at(-1)?.toFixed(0))
          .join(' and ')} MiB`,
      )
    }
  }
  await polls.stop()
  await flow.stop()
  await producer.close()
  await tally.check()
  return rss
}

/** Closes the event that has sold longest, and begins a new one. */
async function changeEvents(producer: Producer, { shape, count, topicPrefix }: Preloaded, selling: number[]) {
  const [oldest = 0, newest = 0] = [Math.min(...selling), Math.max(...selling)]
  const begun = eventRecord(shape, newest + 1)
  const open = eventRecord(shape, oldest).value
  const closedAt = new Date().toISOString()
  const days = open.days.map((day: object) => ({ ...day, closedAt }))
  const closed = { ...open, version: 2, days }
  for (const value of [begun.value, closed]) {
    count.add({ type: 'events', value })
    const topic = topicNames(topicPrefix).events
    await producer.send([{ topic, key: value.eventId, value: JSON.stringify(value) }])
  }
  selling[selling.indexOf(oldest)] = newest + 1
}

/** Asks about the events that sell; `stop` throws if an answer was not a 200. */
function startPolls(
  bench: Bench,
  tally: RunningTally,
  { data, selling }: { data: Preloaded; selling: number[] },
): { stop: () => Promise<void> } {
  const paths = [
    'analytics/kpis',
    'live/item-counts',
    'analytics/orders/by-hour',
    'analytics/orders/top-items',
  ]
  const ending = new AbortController()
  const random = randomFrom(bench.options.seed, 'soak')
  const [first = ''] = data.count.eventIds()
  let failure: string | undefined
  const poll = async () => {
    // One that has begun this moment is not known yet.
    const eventIds = data.count.eventIds()
    const known = selling.filter(event => event < Math.max(...selling))
    const eventId = eventIds[random.of(known)] as string
    const { pathname } = new URL(tally.addressOf(eventId))
    const reply = await ask(tally.query.address, `${pathname}/${random.of(paths)}`, {
      token: tally.tokenOf(first),
    })
    if (reply.status !== 200) failure ??= `${reply.status} ${reply.text}`
  }
  const running = atPace(pollsPerSecond, { signal: ending.signal }, (from, end) => {
    for (let index = from; index < end; index++)
      poll().catch(error => {
        failure ??= String(error)
      })
  })
  return {
    async stop() {
      ending.abort()
      await running
      if (failure !== undefined) throw new Error(`a poll was not answered: ${failure}`)
    },
  }
}

function growthOf(rss: number[]): number {
  const quarter = (number: number) => {
    const own = rss.slice(((number - 1) * rss.length) / 4, (number * rss.length) / 4)
    return own.reduce((sum, value) => sum + value, 0) / own.length
  }
  return quarter(4) - quarter(2)
}
