import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '@tally/testkit/random'
import type { Fault, FaultTools } from '../run/fault.ts'
import { type Clock, hasWrongClocks, wrongClock } from '../system/clock.ts'
import type { Service } from '../system/service.ts'
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
type Processes = { running: Service[]; start: System['startQuery'] }

/** Replaces a process by one with a wrong clock, and that one by a process with the right clock. */
function clockFault(name: string, of: (system: System) => Processes): Fault {
  return {
    name,
    allows: 'everything',
    isPossible: () => hasWrongClocks(() => {}),
    async run(system, random, tools) {
      const { running, start } = of(system)
      const clock = clockFor(system, random)
      await random.of(running).end('SIGTERM')
      const service = await start(clock.env)
      await misuse(clock, random, tools, service.name)
      await Promise.all([service.end('SIGTERM'), start()])
    },
  }
}

export const clockFaults: Fault[] = [
  clockFault('projector with a wrong clock', ({ projectors, startProjector }) => ({
    running: projectors,
    start: startProjector,
  })),
  clockFault('query process with a wrong clock', ({ queries, startQuery }) => ({
    running: queries,
    start: startQuery,
  })),
]
