import type { PartName } from '#infra/servers/index.ts'
import type { Allowed } from '../checks/allowed.ts'
import { type Fault, sleepBetween } from '../run/fault.ts'

const parts: { part: PartName; name: string; allows: Allowed }[] = [
  { part: 'kafka', name: 'Kafka', allows: 'everything' },
  { part: 'postgres', name: 'Postgres', allows: 'no-orders' },
  { part: 'redis', name: 'Redis', allows: 'everything' },
]

/** Each way of each link: no connection, one that hangs, one that is slow, no name. */
export const linkFaults: Fault[] = parts.flatMap(({ part, name, allows }): Fault[] => [
  ...(
    [
      ['cut', 500, 4_000],
      ['stall', 1_000, 5_000],
    ] as const
  ).map(
    ([way, least, most]): Fault => ({
      name: `connections to ${name} ${way === 'cut' ? 'cut' : 'hang'}`,
      allows,
      async run({ links }, random) {
        await links[part][way]()
        await sleepBetween(random, least, most)
        await links[part].mend()
      },
    }),
  ),
  {
    name: `connections to ${name} slow`,
    allows: 'everything',
    async run({ links }, random) {
      await links[part].slow(random.whole(10, 80))
      await sleepBetween(random, 1_000, 4_000)
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
      await sleepBetween(random, 1_000, 3_000).finally(() => names.on(part))
    },
  },
])
