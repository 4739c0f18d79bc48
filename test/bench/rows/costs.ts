import { setTimeout as sleep } from 'node:timers/promises'
import { startFlow } from '../run/flow.ts'
import { between, type ProcessorTime, processorTime } from '../run/processorTime.ts'
import { alternate, measured, type Sample } from '../run/rounds.ts'
import type { Line, Row } from '../run/row.ts'
import { putLoad, writePlan } from '../run/wrk.ts'
import { checkPolled } from '../tally/checkPolled.ts'
import { polled } from '../tally/polled.ts'

const recordPaces = [100, 1_000, 4_000, 8_000]
const requestPaces = [1_000, 4_000, undefined]
const connections = 400
const parts = ['projector', 'query', 'Postgres', 'Redis', 'Kafka']

/**
 * What a record and a request cost each part, at the paces of few and of many festivals: the more arrive together, the
 * less each of them costs. docs/scaling.md computes from it what an installation needs.
 */
export const costs: Row = {
  name: 'costs',
  about: 'processor time of each part per record and per request, at several paces',
  shares: polled,
  needsWrk: true,
  onlyIfNamed: true,
  async run(bench) {
    const use = await polled.get(bench)
    const { tally, data } = use
    const events = [...data.shape.ordersByEvent.keys()]
    const plan = writePlan(
      bench,
      use.questions.map(({ path, token }) => ({ path, token })),
      use.order,
    )
    const read = () => processorTime(bench, { projector: [tally.projector.pid], query: [tally.query.pid] })
    const each = async (count: () => Promise<number>): Promise<Sample> => {
      const before = read()
      const number = await count()
      return perOne(between(before, read()), number)
    }
    const records = (perSecond: number) => async () => {
      const flow = await startFlow(bench, data, { events, perSecond, next: use.nextOrder })
      // Producer, projector and publisher at their pace.
      await sleep(1_000)
      const seconds = 2 * bench.options.seconds
      const sample = await each(() => sleep(seconds * 1_000).then(() => seconds * perSecond))
      await flow.stop()
      await tally.untilCounted()
      return sample
    }
    const requests = (perSecond: number | undefined) => async () => {
      const load = { connections, seconds: bench.options.seconds, ...(perSecond && { perSecond }) }
      const sample = await each(async () => (await putLoad(tally.query.address, plan, load)).requests)
      await checkPolled(use, tally.query.address, 'whole')
      return sample
    }
    const idle = () => each(() => sleep(2_000 * bench.options.seconds).then(() => 2 * bench.options.seconds))
    const { nothing } = await alternate(bench, 'costs', { nothing: idle })
    const ofRequests = await alternate(bench, 'costs', contendersOf(requestPaces, requests))
    const ofRecords = await alternate(bench, 'costs', contendersOf(recordPaces, records))
    await use.learn(events)
    return {
      lines: [
        ...parts.map(part => ({
          row: 'costs, a second without any',
          ours: measured(nothing, part, part, 'µs'),
        })),
        ...linesOf('a record', 'records/s', ofRecords, ['projector', 'Postgres', 'Redis', 'Kafka']),
        ...linesOf('a request', 'requests/s', ofRequests, ['query', 'Redis', 'Postgres']),
      ],
    }
  },
}

const perOne = (time: ProcessorTime, number: number): Sample =>
  Object.fromEntries(Object.entries(time).map(([part, ms]) => [part, (ms * 1_000) / number]))

const contendersOf = <Pace extends number | undefined>(
  paces: Pace[],
  measure: (pace: Pace) => () => Promise<Sample>,
) => Object.fromEntries(paces.map(pace => [pace === undefined ? 'as many as it can' : pace, measure(pace)]))

function linesOf(what: string, unit: string, samples: Record<string, Sample[]>, parts: string[]): Line[] {
  return Object.entries(samples).flatMap(([pace, rounds]) =>
    parts.map(part => {
      const at = Number.isNaN(Number(pace)) ? pace : `${Number(pace).toLocaleString('en')} ${unit}`
      return { row: `costs, ${what}`, ours: measured(rounds, part, `${part}, ${at}`, 'µs') }
    }),
  )
}
