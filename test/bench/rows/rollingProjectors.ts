import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { topicNames } from '@tally/kafka'
import type { Service } from '../../chaos/system/service.ts'
import { openLiveOrders } from '../data/live.ts'
import type { Preloaded } from '../data/preload.ts'
import { evenShape } from '../data/shape.ts'
import { startFlow } from '../run/flow.ts'
import { alternate, measured, type Sample } from '../run/rounds.ts'
import type { Row } from '../run/row.ts'
import { type RunningTally, startTally } from '../tally/tally.ts'
import { untilReady } from '../tally/untilReady.ts'

const members = 5
const partitions = 30
const events = 200
const ordersPerSecond = 100
const steadyMs = 5_000
const lookEveryMs = 50

/** How old the figures of a shard get while projectors restart, and how often a shard moves. */
export const rollingProjectors: Row = {
  name: 'rolling-projectors',
  about: 'five projectors with 30 shards, restarted one by one at 100 orders/s (only if named)',
  onlyIfNamed: true,
  async run(bench) {
    const { orders, seed } = bench.options
    const shape = { ...evenShape(seed + 12, Math.ceil(orders / 10), events), days: 1, partitions }
    const data = await bench.data('rolling-projectors', () => shape)
    const tally = await startTally(bench, data)
    try {
      const projectors = [tally.projector]
      while (projectors.length < members) projectors.push(await tally.startAnother('projector'))
      await Promise.all(projectors.map(untilReady))
      await tally.untilAnswered()
      const flow = await startFlow(bench, data, {
        perSecond: ordersPerSecond,
        next: openLiveOrders(data),
      })
      const samples = await alternate(bench, 'rolling-projectors', {
        restarts: () => restartAll(tally, data, projectors),
      }).finally(() => flow.stop())
      await tally.check()
      const what = `${members} projectors, ${partitions} shards, ${ordersPerSecond} orders/s`
      return {
        lines: [
          {
            row: 'rolling-projectors, oldest figures',
            ours: measured(samples.restarts, 'oldest', what, 'ms'),
            against: measured(samples.restarts, 'steady', 'without restarts', 'ms'),
            goal: { of: 'value', bound: 'at most', value: 3_000 },
          },
          {
            row: 'rolling-projectors, most moves of a shard',
            ours: measured(samples.restarts, 'moves', what, 'moves'),
            goal: { of: 'value', bound: 'at most', value: 2 },
          },
        ],
      }
    } finally {
      bench.forget('rolling-projectors')
      await tally.stop()
    }
  },
}

/** Restarts each projector as soon as the one before it is ready again; the new ones take their places in the list. */
async function restartAll(tally: RunningTally, data: Preloaded, projectors: Service[]): Promise<Sample> {
  await tally.untilCounted()
  const steady = await oldestDuring(tally, () => sleep(steadyMs))
  const all = [...projectors]
  const beganMs = Date.now()
  const oldest = await oldestDuring(tally, async () => {
    for (const old of all.slice(0, members)) {
      await old.end('SIGTERM')
      const started = await tally.startAnother('projector')
      await untilReady(started)
      all.push(started)
    }
    await tally.untilCounted()
  })
  projectors.splice(0, members, ...all.slice(members))
  const moves = movesOf(all, topicNames(data.topicPrefix).orders, beganMs)
  return { oldest, steady, moves: Math.max(...moves.values()) }
}

/** How old the oldest figures of a shard were while `work` ran, in ms. */
async function oldestDuring(tally: RunningTally, work: () => Promise<unknown>): Promise<number> {
  let isOver = false
  const working = work().finally(() => {
    isOver = true
  })
  let oldest = 0
  for (; !isOver; await sleep(lookEveryMs))
    oldest = Math.max(oldest, Date.now() - (await tally.countedUpTo()))
  await working
  return oldest
}

/** How often each shard has moved to another projector since a moment (epoch milliseconds). */
function movesOf(projectors: Service[], topic: string, sinceMs: number): Map<number, number> {
  const owners = new Map<number, Service>()
  const moves = new Map<number, number>()
  for (const { projector, atMs, shards } of joinsOf(projectors, topic))
    for (const shard of shards) {
      if (atMs > sinceMs && owners.get(shard) !== projector) moves.set(shard, (moves.get(shard) ?? 0) + 1)
      owners.set(shard, projector)
    }
  return moves
}

/** What each projector got when it joined the group, by the time of the join. */
const joinsOf = (projectors: Service[], topic: string) =>
  projectors
    .flatMap(projector =>
      readFileSync(projector.logFile, 'utf8')
        .split('\n')
        .filter(line => line.includes('"msg":"joined the consumer group"'))
        .map(line => JSON.parse(line))
        .map(({ time, assignment }) => ({
          projector,
          atMs: Date.parse(time),
          shards: (assignment[topic] ?? []) as number[],
        })),
    )
    .toSorted((one, other) => one.atMs - other.atMs)
