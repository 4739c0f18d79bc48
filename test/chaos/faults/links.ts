import type { PartName } from '#infra/servers/index.ts'
import type { Allowed } from '../checks/allowed.ts'
import { type Fault, last } from '../run/fault.ts'

const parts: { part: PartName; name: string; allows: Allowed }[] = [
  { part: 'kafka', name: 'Kafka', allows: 'everything' },
  { part: 'postgres', name: 'Postgres', allows: 'no-orders' },
  { part: 'redis', name: 'Redis', allows: 'everything' },
]

/** Each way of each link: no connection, one that hangs, one that is slow, no name. */
export const linkFaults: Fault[] = parts.flatMap(({ part, name, allows }): Fault[] => [
  {
    name: `connections to ${name} cut`,
    allows,
    async run({ links }, random) {
      await links[part].cut()
      await last(random, 500, 4_000)
      await links[part].mend()
    },
  },
  {
    name: `connections to ${name} hang`,
    allows,
    async run({ links }, random) {
      await links[part].stall()
      await last(random, 1_000, 5_000)
      await links[part].mend()
    },
  },
  {
    name: `connections to ${name} slow`,
    allows: 'everything',
    async run({ links }, random) {
      await links[part].slow(random.whole(10, 80))
      await last(random, 1_000, 4_000)
      await links[part].mend()
    },
  },
  {
    name: `${name}'s name does not resolve`,
    allows,
    // Connections break, and for a while new ones fail with EAI_AGAIN before anything is sent.
    async run({ links, names }, random) {
      names.off(part)
      await links[part].cut()
      await links[part].mend()
      await last(random, 1_000, 3_000).finally(() => names.on(part))
    },
  },
])
