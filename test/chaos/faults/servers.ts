import type { PartName } from '#infra/servers/index.ts'
import { type Fault, last } from '../run/fault.ts'

/** Kills a server and starts it again after at least 0.5 s. */
function killed(
  name: string,
  part: PartName,
  { allows, longestMs }: { allows: Fault['allows']; longestMs: number },
): Fault {
  return {
    name,
    allows,
    async run({ servers }, random) {
      await servers.part(part).kill('SIGKILL')
      await last(random, 500, longestMs)
      await servers.part(part).start()
    },
  }
}

export const serverFaults: Fault[] = [
  killed('Kafka killed', 'kafka', { allows: 'everything', longestMs: 3_000 }),
  killed('Postgres killed', 'postgres', { allows: 'no-orders', longestMs: 4_000 }),
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
