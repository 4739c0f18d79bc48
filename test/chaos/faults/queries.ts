import { type Fault, last } from '../run/fault.ts'

export const queryFaults: Fault[] = [
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
      await last(random, 0, 1_000)
      await system.startQuery()
    },
  },
]
