import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../load/random.ts'
import type { Fault, FaultTools } from '../run/fault.ts'
import { type Clock, hasWrongClocks, wrongClock } from '../system/clock.ts'
import type { System } from '../system/system.ts'

const hour = 3_600
const freshTimeoutMs = 60_000
/** libfaketime looks at its file once a second. */
const noticeMs = 1_100

/** Waits until asOf advances: it follows the database's clock, even if the process's clock is wrong. */
async function goesOn({ isFresh, wrongs }: FaultTools, name: string): Promise<void> {
  if (!(await isFresh({ sinceMs: Date.now(), timeoutMs: freshTimeoutMs })))
    wrongs.add('asOf advances under a wrong clock', name)
}

/** An hour ahead or behind all the time, or jumping from one to the other. */
async function misuse(clock: Clock, random: Random, tools: FaultTools, name: string): Promise<void> {
  await goesOn(tools, name)
  for (const seconds of random.of([[], [-hour, hour], [2 * hour, 0, -2 * hour]])) {
    clock.set(seconds)
    await sleep(noticeMs)
    await goesOn(tools, `${name}, ${seconds} s off`)
  }
}

const clockFor = ({ dataFolder }: System, random: Random) =>
  wrongClock(join(dataFolder, 'clocks'), random.of([hour, -hour]))
const isPossible = () => hasWrongClocks(() => {})

export const clockFaults: Fault[] = [
  {
    name: 'projector with a wrong clock',
    allows: 'everything',
    isLong: true,
    isPossible,
    async run(system, random, tools) {
      const clock = clockFor(system, random)
      await random.of(system.projectors).end('SIGTERM')
      const projector = await system.startProjector(clock.env)
      await misuse(clock, random, tools, projector.name)
      await Promise.all([projector.end('SIGTERM'), system.startProjector()])
    },
  },
  {
    name: 'query process with a wrong clock',
    allows: 'everything',
    isLong: true,
    isPossible,
    async run(system, random, tools) {
      const clock = clockFor(system, random)
      await random.of(system.queries).end('SIGTERM')
      const query = await system.startQuery(clock.env)
      await misuse(clock, random, tools, query.name)
      await Promise.all([query.end('SIGTERM'), system.startQuery()])
    },
  },
]
