import type { Random } from '@tally/testkit/random'
import { type Fault, sleepBetween } from '../run/fault.ts'
import type { Service } from '../system/service.ts'
import type { System } from '../system/system.ts'

/** Longer than the session time-out of 10 s: its partitions are assigned to others while it is frozen. */
const zombieMs = [11_000, 14_000] as const

async function killOne(system: System, random: Random): Promise<void> {
  await random.of(system.projectors).end('SIGKILL')
  await sleepBetween(random, 0, 2_000)
  await system.startProjector()
}

export const processFaults: Fault[] = [
  {
    name: 'projector killed, the only one',
    allows: 'everything',
    prepare: system => system.scaleTo(1),
    run: killOne,
  },
  {
    name: 'projector killed, one of three',
    allows: 'everything',
    prepare: system => system.scaleTo(3),
    run: killOne,
  },
  {
    name: 'projector stopped past its session, goes on',
    allows: 'everything',
    prepare: system => system.scaleTo(Math.max(2, system.projectors.length)),
    async run(system, random) {
      const zombie = random.of(system.projectors)
      zombie.freeze()
      await sleepBetween(random, ...zombieMs).finally(() => zombie.resume())
    },
  },
  {
    name: 'projectors join and leave (2, 5, some)',
    allows: 'everything',
    async run(system, random) {
      await system.scaleTo(2)
      await sleepBetween(random, 0, 1_000)
      await system.scaleTo(5)
      await sleepBetween(random, 500, 2_000)
      const leaving = random.shuffled<Service>(system.projectors).slice(0, random.whole(2, 4))
      await Promise.all(leaving.map(projector => projector.end('SIGTERM')))
    },
  },
  {
    name: 'query process ends in good order',
    allows: 'everything',
    async run(system, random) {
      await Promise.all([random.of(system.queries).end('SIGTERM'), system.startQuery()])
    },
  },
  {
    name: 'query process killed',
    allows: 'everything',
    async run(system, random) {
      await random.of(system.queries).end('SIGKILL')
      await sleepBetween(random, 0, 1_000)
      await system.startQuery()
    },
  },
]
