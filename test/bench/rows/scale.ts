import type { Preloaded } from '../data/preload.ts'
import { evenShape, type Shape } from '../data/shape.ts'
import type { Bench } from '../run/bench.ts'
import { alternate, measured, type Sample } from '../run/rounds.ts'
import { type Row, ratioAtLeast, ratioAtMost } from '../run/row.ts'
import { putOneQuestion } from '../run/wrk.ts'
import { countAll } from '../tally/countAll.ts'

const ordersOfAnEvent = 100
const busyEvents = 100
const fewEvents = 40

/** Events that are over must not slow others: 10,000 of 100 orders, then as many on 100 of them, against 40 events. */
export const scale: Row = {
  name: 'scale',
  about: '1,000,000 orders on 100 of 10,000 events (--large; else a tenth) against the same on 40 events',
  needsWrk: true,
  async run(bench) {
    const { orders, seed, large } = bench.options
    const events = Math.max(busyEvents, Math.ceil(orders / (large ? 20 : 200)))
    const last = events * ordersOfAnEvent
    const many = await bench.data('many-events', () => ({ ...shapeOf(events), seed: seed + 7 }))
    const few = await bench.data('few-events', () => ({
      ...evenShape(seed + 8, last * 2, fewEvents),
      days: 1,
    }))
    const samples = await alternate(bench, 'scale', {
      many: () => lastOrders(bench, many, last),
      few: () => lastOrders(bench, few, last),
    })
    bench.forget('many-events', 'few-events')
    const whats = {
      rate: `projector, last ${last.toLocaleString('en')} records`,
      'hot p99': 'item counts, p99',
      'hot median': 'item counts, median',
      'list p99': 'order list, page 1, p99',
      'list median': 'order list, page 1, median',
    }
    const line = (figure: keyof typeof whats) => ({
      row: 'scale',
      ours: measured(
        samples.many,
        figure,
        `${whats[figure]}, ${events.toLocaleString('en')} events`,
        unitOf(figure),
      ),
      against: measured(samples.few, figure, `${fewEvents} events`, unitOf(figure)),
    })
    const latencies = ['hot median', 'hot p99', 'list median', 'list p99'] as const
    return {
      lines: [
        { ...line('rate'), goal: ratioAtLeast(0.9) },
        ...latencies.map(figure => ({ ...line(figure), goal: ratioAtMost(1.2) })),
      ],
      notes: large
        ? []
        : [`scale: the goal is for 10,000 events (--large), these were ${events.toLocaleString('en')}`],
    }
  },
}

const unitOf = (figure: string) => (figure === 'rate' ? 'records/s' : 'ms')

/** One order of each event comes in turn, so that those of the busy events alone come last. */
function shapeOf(events: number): Omit<Shape, 'seed'> {
  const more = (events * ordersOfAnEvent) / busyEvents
  const ordersByEvent = Array.from(
    { length: events },
    (_, event) => ordersOfAnEvent + (event < busyEvents ? more : 0),
  )
  return { ordersByEvent, days: 1 }
}

/** The rate of the last records, and then what the first event's item counts and order list take. */
function lastOrders(bench: Bench, data: Preloaded, last: number): Promise<Sample> {
  // With one day for each event, what is waited for are all answers but those of single areas.
  return countAll(bench, data, async ({ tally, at }) => {
    const [eventId = ''] = data.count.eventIds()
    const [address, token] = [tally.addressOf(eventId), tally.tokenOf(eventId)]
    const hot = await putOneQuestion(bench, { url: `${address}/live/item-counts`, token })
    const list = await putOneQuestion(bench, { url: `${address}/orders?pageSize=100`, token, connections: 1 })
    return {
      rate: (last * 1000) / (at(data.total) - at(data.total - last)),
      'hot median': hot.median,
      'hot p99': hot.p99,
      'list median': list.median,
      'list p99': list.p99,
    }
  })
}
