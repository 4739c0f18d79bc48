import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { evenShape } from '../data/shape.ts'
import { type Line, type Row, valueAtMost } from '../run/row.ts'
import { putOneQuestion } from '../run/wrk.ts'
import { memoryOf } from '../tally/memoryOf.ts'
import { withTally } from '../tally/tally.ts'

const events = 500
/** Long enough for the collector to have given back what it will. */
const restMs = 5_000

/** Resident memory when all orders are counted, each question was asked, and a load has gone over the query process. */
export const memory: Row = {
  name: 'memory',
  about:
    'resident memory of a projector and a query process at 2,000,000 orders (--large; else 400,000), 500 events',
  needsWrk: true,
  async run(bench) {
    if (!existsSync('/proc/self/status'))
      return { lines: [], notes: ['memory: this machine has no /proc to read it from'] }
    const { orders, seed, large } = bench.options
    const size = large ? orders * 10 : orders * 2
    const data = await bench.data('many', () => evenShape(seed + 3, size, events))
    return withTally(bench, data, async tally => {
      await tally.untilAnswered()
      await tally.check()
      const [eventId = ''] = data.count.eventIds()
      const url = `${tally.addressOf(eventId)}/live/item-counts`
      await putOneQuestion(bench, { url, token: tally.tokenOf(eventId) })
      await sleep(restMs)
      const of = (pid: number, name: string, value: number): Line[] => {
        const { peak, now } = memoryOf(pid)
        const what = `${name}, ${size.toLocaleString('en')} orders, ${events} events`
        return [
          { row: 'memory, peak', ours: { what, unit: 'MiB', rounds: [peak] }, goal: valueAtMost(value) },
          { row: 'memory, at rest', ours: { what, unit: 'MiB', rounds: [now] } },
        ]
      }
      return {
        lines: [...of(tally.projector.pid, 'projector', 300), ...of(tally.query.pid, 'query', 200)],
        notes: [
          'memory: one reading, not one a round; the peak is what the process ever held (VmHWM)',
          ...(large
            ? []
            : [`memory: the goal is for 2,000,000 orders (--large), this was ${size.toLocaleString('en')}`]),
        ],
      }
    }).finally(() => bench.forget('many'))
  },
}
