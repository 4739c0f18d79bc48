import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Preloaded } from '../data/preload.ts'
import { evenShape } from '../data/shape.ts'
import type { Bench } from '../run/bench.ts'
import { between, processorTime } from '../run/processorTime.ts'
import { alternate, measured, type Sample } from '../run/rounds.ts'
import type { Line, Row } from '../run/row.ts'
import { putLoad, writePlan } from '../run/wrk.ts'
import { polled } from '../tally/polled.ts'
import { momentOf, watchProgress } from '../tally/progress.ts'
import { startTally } from '../tally/tally.ts'

const run = promisify(execFile)
const connections = 64

/**
 * One process that is pinned to a core, and two on a core each. The servers and the load share the cores with them, so
 * the rate of two says what this machine still has; what a record or a request costs says what another machine would
 * do.
 */
export const cores: Row = {
  name: 'cores',
  about: 'one projector and one query process pinned to a core, against two of each on two cores (taskset)',
  shares: polled,
  needsWrk: true,
  onlyIfNamed: true,
  async run(bench) {
    const { orders, seed } = bench.options
    const data = await bench.data('big', () => evenShape(seed, orders * 2))
    const projectors = await alternate(bench, 'cores', {
      one: () => projectOn(bench, data, [0]),
      two: () => projectOn(bench, data, [0, 1]),
    })
    bench.forget('big')
    const second = await (await polled.get(bench)).tally.startAnother('query')
    const queries = await alternate(bench, 'cores', {
      one: () => answerOn(bench, []),
      two: () => answerOn(bench, [second]),
    })
    await second.end('SIGTERM')
    return {
      lines: [
        ...linesOf('projector', 'records/s', projectors, ['projector', 'Postgres', 'Redis', 'Kafka']),
        ...linesOf('query process', 'requests/s', queries, ['query', 'Redis']),
      ],
    }
  },
}

/** Moves all threads of a process to one core. */
const pin = (pid: number, core: number) => run('taskset', ['-acp', String(core), String(pid)])

/** The last half of the records, applied by one projector on each of these cores. */
async function projectOn(bench: Bench, data: Preloaded, onCores: number[]): Promise<Sample> {
  const tally = await startTally(bench, data)
  const progress = watchProgress(tally.db, data)
  try {
    const pids = [tally.projector.pid]
    for (const _ of onCores.slice(1)) pids.push((await tally.startAnother('projector')).pid)
    await Promise.all(pids.map((pid, index) => pin(pid, onCores[index] as number)))
    const before = processorTime(bench, { projector: pids })
    const beganAtMs = Date.now()
    await tally.untilAnswered()
    const took = between(before, processorTime(bench, { projector: pids }))
    const notes = await progress.stop()
    await tally.check()
    const last = Math.floor(data.total / 2)
    // Before the pinned ones began, the first had applied some.
    const counted = data.total - (notes.findLast(note => note.atMs <= beganAtMs)?.records ?? 0)
    return {
      rate: (last * 1000) / (momentOf(notes, data.total) - momentOf(notes, data.total - last)),
      ...Object.fromEntries(Object.entries(took).map(([part, ms]) => [part, (ms * 1000) / counted])),
    }
  } finally {
    await progress.stop()
    await tally.stop()
  }
}

/** The load of `polling` on one query process on core 0, or half of it on each of two on cores 0 and 1. */
async function answerOn(bench: Bench, others: { pid: number; address: string }[]): Promise<Sample> {
  const { tally, questions, order } = await polled.get(bench)
  const plan = writePlan(
    bench,
    questions.map(({ path, token }) => ({ path, token })),
    order,
  )
  const asked = [tally.query, ...others]
  await Promise.all(asked.map(({ pid }, core) => pin(pid, core)))
  const pids = { query: asked.map(({ pid }) => pid) }
  const load = { connections: connections / asked.length, seconds: bench.options.seconds }
  const before = processorTime(bench, pids)
  const loads = await Promise.all(asked.map(({ address }) => putLoad(address, plan, load)))
  const took = between(before, processorTime(bench, pids))
  const requests = loads.reduce((sum, load) => sum + load.requests, 0)
  return {
    rate: loads.reduce((sum, load) => sum + load.rate, 0),
    ...Object.fromEntries(Object.entries(took).map(([part, ms]) => [part, (ms * 1000) / requests])),
  }
}

function linesOf(
  name: string,
  unit: 'records/s' | 'requests/s',
  { one, two }: Record<'one' | 'two', Sample[]>,
  parts: string[],
): Line[] {
  const each = unit === 'records/s' ? 'a record' : 'a request'
  return [
    {
      row: 'cores',
      ours: measured(two, 'rate', `two of ${name}`, unit),
      against: measured(one, 'rate', 'one', unit),
    },
    ...parts.map(part => ({
      row: `cores, ${each}`,
      ours: measured(two, part, `${part}, two of ${name}`, 'µs' as const),
      against: measured(one, part, 'one', 'µs'),
    })),
  ]
}
