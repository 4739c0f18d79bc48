import type { PartName } from '#infra/servers/index.ts'
import type { Allowed } from '../checks/allowed.ts'
import { type Fault, last } from '../run/fault.ts'

const parts: { part: PartName; name: string; allows: Allowed }[] = [
  { part: 'kafka', name: "Kafka's", allows: 'everything' },
  { part: 'postgres', name: "Postgres's", allows: 'no-orders' },
  { part: 'redis', name: "Redis's", allows: 'everything' },
]

/** Connections break, and for a while new ones fail with EAI_AGAIN before anything is sent. */
export const nameFaults: Fault[] = parts.map(({ part, name, allows }) => ({
  name: `${name} name does not resolve`,
  allows,
  async run({ links, names }, random) {
    names.off(part)
    await links[part].cut()
    await links[part].mend()
    await last(random, 1_000, 3_000).finally(() => names.on(part))
  },
}))
