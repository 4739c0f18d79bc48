import { type Fault, last } from '../run/fault.ts'

export const serverFaults: Fault[] = [
  {
    name: 'Kafka killed',
    allows: 'everything',
    async run({ servers }, random) {
      await servers.part('kafka').kill('SIGKILL')
      await last(random, 500, 3_000)
      await servers.part('kafka').start()
    },
  },
  {
    name: 'Postgres killed',
    allows: 'no-orders',
    async run({ servers }, random) {
      await servers.part('postgres').kill('SIGKILL')
      await last(random, 500, 4_000)
      await servers.part('postgres').start()
    },
  },
  {
    name: 'Redis and Postgres killed',
    allows: 'nothing',
    async run({ servers }, random) {
      const parts = [servers.part('postgres'), servers.part('redis')]
      await Promise.all(parts.map(part => part.kill('SIGKILL')))
      await last(random, 500, 3_000)
      await Promise.all(parts.map(part => part.start()))
    },
  },
]
