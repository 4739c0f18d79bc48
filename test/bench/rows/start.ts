import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '@tally/testkit/processes/http'
import { program } from '@tally/testkit/processes/program'
import { freePort } from '#infra/servers/ports.ts'
import { end, endOfLog, launch } from '#infra/servers/process.ts'
import { evenShape } from '../data/shape.ts'
import type { Bench } from '../run/bench.ts'
import { alternate, measured, type Sample } from '../run/rounds.ts'
import { type Row, valueAtMost } from '../run/row.ts'
import { withTally } from '../tally/tally.ts'

const timeoutMs = 60_000
const goalMs = 600

/** From the start of a process until `/readyz` says 200; the round that does not count fills the compile cache. */
export const start: Row = {
  name: 'start',
  about: 'a projector and a query process from their start until they are ready, with a warm compile cache',
  async run(bench) {
    const { orders, seed } = bench.options
    const data = await bench.data('start', () => evenShape(seed + 6, Math.ceil(orders / 100)))
    return withTally(bench, data, async tally => {
      await tally.untilAnswered()
      await tally.check()
      for (const service of [tally.projector, tally.query]) await service.end('SIGTERM')
      const samples = await alternate(bench, 'start', {
        projector: () => untilReady(bench, 'projector', tally.env),
        query: () => untilReady(bench, 'query', tally.env),
      })
      return {
        lines: (['projector', 'query'] as const).map(name => ({
          row: 'start',
          ours: measured(samples[name], 'ready', `${name}, until /readyz says 200`, 'ms'),
          goal: valueAtMost(goalMs),
        })),
      }
    }).finally(() => bench.forget('start'))
  },
}

async function untilReady(
  bench: Bench,
  command: 'projector' | 'query',
  env: Record<string, string>,
): Promise<Sample> {
  const port = await freePort()
  const logFile = join(bench.folder, `start-${command}-${bench.nextNumber()}.log`)
  const began = performance.now()
  const running = launch({
    command: program,
    args: [command],
    env: { ...env, OPS_PORT: String(port) },
    logFile,
    stopSignal: 'SIGTERM',
  })
  try {
    for (; !running.hasEnded() && performance.now() - began < timeoutMs; await sleep(2)) {
      const reply = await ask(`http://127.0.0.1:${port}`, '/readyz').catch(() => undefined)
      if (reply?.status === 200) return { ready: performance.now() - began }
    }
    throw new Error(`${command} was not ready:\n${endOfLog(logFile)}`)
  } finally {
    if (!running.hasEnded()) await end(running, 'SIGTERM')
  }
}
