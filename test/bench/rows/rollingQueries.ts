import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '#infra/servers/ports.ts'
import { type Service, startService } from '../../chaos/system/service.ts'
import { openLiveOrders } from '../data/live.ts'
import { evenShape } from '../data/shape.ts'
import type { Bench } from '../run/bench.ts'
import { startFlow } from '../run/flow.ts'
import { haproxyPath, type Mode, startHaproxy, type Target } from '../run/haproxy.ts'
import { alternate, measured, type Sample } from '../run/rounds.ts'
import type { Row } from '../run/row.ts'
import { putLoad, writePlan } from '../run/wrk.ts'
import { questionsOf } from '../tally/questions.ts'
import { startTally } from '../tally/tally.ts'
import { untilReady } from '../tally/untilReady.ts'

const processes = 3
const connections = 128
const leastPerSecond = 1_000
/** What the pauses of wrk's connections are for. The time of the answers adds to them: the rate it reaches is lower. */
const perSecond = 1_200
const ordersPerSecond = 100
/** The load begins before the first restart, and ends after the last one. */
const marginMs = 1_000
const mostSeconds = 300
/** The default, which `environmentOf` shortens. */
const settings = { QUERY_DRAIN_MS: '4000' }

/** Whether a rolling restart of query processes fails a request: if it does, the row has no figures. */
export const rollingQueries: Row = {
  name: 'rolling-queries',
  about: 'three query processes behind HAProxy, restarted one by one at 1,000 requests/s (only if named)',
  needsWrk: true,
  onlyIfNamed: true,
  async run(bench) {
    await haproxyPath(bench)
    const { orders, seed } = bench.options
    const data = await bench.data('rolling-queries', () => evenShape(seed + 11, Math.ceil(orders / 10)))
    const tally = await startTally(bench, data)
    const queries: Query[] = []
    try {
      await tally.untilAnswered()
      await tally.check()
      for (let index = 0; index < processes; index++) queries.push(await openQuery(bench, tally.env))
      const plan = writePlan(bench, questionsOf(tally, data.count))
      const flow = await startFlow(bench, data, {
        perSecond: ordersPerSecond,
        next: openLiveOrders(data),
      })
      const samples = await alternate(bench, 'rolling-queries', {
        tcp: () => restartAll(bench, 'tcp', { queries, plan }),
        http: () => restartAll(bench, 'http', { queries, plan }),
      }).finally(() => flow.stop())
      await tally.check()
      const requests = Object.values(samples)
        .flat()
        .reduce((sum, { requests = 0 }) => sum + requests, 0)
      return {
        lines: (['tcp', 'http'] as const).flatMap(mode => [
          {
            row: 'rolling-queries',
            ours: measured(samples[mode], 'rate', `none failed, HAProxy in mode ${mode}`, 'requests/s'),
            goal: { of: 'value', bound: 'at least', value: leastPerSecond },
          },
          {
            row: 'rolling-queries, p99',
            ours: measured(samples[mode], 'p99', `HAProxy in mode ${mode}`, 'ms'),
          },
        ]),
        notes: [
          `rolling-queries: ${requests} requests in the counted rounds, with ${ordersPerSecond} orders/s`,
        ],
      }
    } finally {
      for (const { stop } of queries) await stop()
      bench.forget('rolling-queries')
      await tally.stop()
    }
  },
}

type Query = Target & { restart: () => Promise<void>; stop: () => Promise<void> }

/** A query process on ports of its own, which it keeps when it restarts. */
async function openQuery(bench: Bench, env: Record<string, string>): Promise<Query> {
  const [port, opsPort] = [await freePort(), await freePort()]
  const start = async (): Promise<Service> => {
    const service = await startService('query', {
      name: `rolling-query-${bench.nextNumber()}`,
      env: { ...env, ...settings, QUERY_PORT: String(port), OPS_PORT: String(opsPort) },
      folder: bench.folder,
    })
    await untilReady(service)
    return service
  }
  let running = await start()
  const stop = () => running.end('SIGTERM')
  return {
    port,
    opsPort,
    async restart() {
      await stop()
      running = await start()
    },
    stop,
  }
}

/** Restarts one process after the other while wrk asks through HAProxy. */
async function restartAll(
  bench: Bench,
  mode: Mode,
  { queries, plan }: { queries: Query[]; plan: string },
): Promise<Sample> {
  const haproxy = await startHaproxy(bench, mode, queries)
  const ending = new AbortController()
  const load = { connections, perSecond, seconds: mostSeconds, signal: ending.signal }
  const restart = async () => {
    await sleep(marginMs)
    for (const query of queries) await query.restart()
    await sleep(marginMs)
  }
  try {
    const loading = putLoad(haproxy.address, plan, load)
    const [{ rate, p99, requests }] = await Promise.all([loading, restart().finally(() => ending.abort())])
    return { rate, p99, requests }
  } finally {
    await haproxy.stop()
  }
}
