import type { TestRecord } from '@tally/testkit/processes/tally'
import { randomFrom } from '@tally/testkit/random'
import { startService } from '../../chaos/system/service.ts'
import type { Count } from '../data/count.ts'
import { openLiveOrders } from '../data/live.ts'
import type { Preloaded } from '../data/preload.ts'
import { evenShape } from '../data/shape.ts'
import { zipfOf } from '../data/zipf.ts'
import { percentile } from '../report/figures.ts'
import type { Bench } from '../run/bench.ts'
import { startFlow } from '../run/flow.ts'
import { alternate, measured, type Sample } from '../run/rounds.ts'
import { type Row, valueAtMost } from '../run/row.ts'
import { putLoad, writePlan } from '../run/wrk.ts'
import { type Evening, openEvening } from '../tally/evening.ts'
import { questionsOf } from '../tally/questions.ts'
import { openScreen, signIn } from '../tally/screens.ts'
import { type RunningTally, startTally } from '../tally/tally.ts'

const screens = 200
const ordersPerSecond = 500
const pollsPerSecond = 2_000
const pollingConnections = 400
const drawn = 50_000

/** An evening with everything at once: each event has a live screen and devices that poll it, and sells. */
export const dashboards: Row = {
  name: 'dashboards',
  about: '200 live screens and 2,000 polls/s while 500 orders/s come in: how far behind the screens are',
  needsWrk: true,
  async run(bench) {
    const { orders, seed } = bench.options
    const shape = { ...evenShape(seed + 9, Math.ceil(orders / 10), screens), days: 1 }
    const data = await bench.data('dashboards', () => shape)
    const tally = await startTally(bench, data)
    const name = `admin-${bench.nextNumber()}`
    const admin = await startService('admin', { name, env: tally.env, folder: bench.folder })
    const closing: (() => void)[] = []
    try {
      await tally.untilAnswered()
      await tally.check()
      const evening = openEvening(data.count)
      const cookies = new Map<string, string>()
      for (const [event, eventId] of data.count.eventIds().entries()) {
        const organizationId = data.count.organizationIdOf(eventId)
        const cookie = cookies.get(organizationId) ?? (await signIn(tally.db, admin.address, organizationId))
        cookies.set(organizationId, cookie)
        const shown = (orders: number) => evening.shown(event, orders)
        closing.push(await openScreen(admin.address, { cookie, eventId, dayId: 1 }, shown))
      }
      const plan = planOf(bench, tally, data.count)
      const next = openLiveOrders(data)
      const samples = await alternate(bench, 'dashboards', {
        evening: () => oneRound(bench, { tally, data, plan, evening, next }),
      })
      const what = `${screens} screens, ${pollsPerSecond.toLocaleString('en')} polls/s, ${ordersPerSecond} orders/s`
      return {
        lines: [
          {
            row: 'dashboards, behind',
            ours: measured(samples.evening, 'behind', `screens, p99, ${what}`, 'ms'),
            goal: valueAtMost(300),
          },
          {
            row: 'dashboards, polls',
            ours: measured(samples.evening, 'polls', 'polls, p99', 'ms'),
            goal: valueAtMost(20),
          },
          { row: 'dashboards, polls', ours: measured(samples.evening, 'rate', 'polls', 'requests/s') },
        ],
      }
    } finally {
      for (const close of closing) close()
      await admin.end('SIGTERM')
      bench.forget('dashboards')
      await tally.stop()
    }
  },
}

type Round = {
  tally: RunningTally
  data: Preloaded
  plan: string
  evening: Evening
  next: (event: number) => TestRecord
}

async function oneRound(bench: Bench, { tally, data, plan, evening, next }: Round): Promise<Sample> {
  const events = data.shape.ordersByEvent.map((_, event) => event)
  const flow = await startFlow(bench, data, {
    events,
    perSecond: ordersPerSecond,
    next(event) {
      evening.sent(event)
      return next(event)
    },
  })
  const load = await putLoad(tally.query.address, plan, {
    connections: pollingConnections,
    perSecond: pollsPerSecond,
    seconds: bench.options.seconds * 2,
  }).finally(() => flow.stop())
  const took = await evening.taken()
  await tally.check()
  return { behind: percentile(took, 0.99), median: percentile(took, 0.5), polls: load.p99, rate: load.rate }
}

/** The four questions about each event, events by Zipf's law. */
function planOf(bench: Bench, tally: RunningTally, count: Count): string {
  const random = randomFrom(bench.options.seed, 'dashboards')
  const drawEvent = zipfOf(screens)
  const order = Array.from({ length: drawn }, () => 4 * drawEvent(random) + random.whole(0, 3))
  return writePlan(bench, questionsOf(tally, count), order)
}
