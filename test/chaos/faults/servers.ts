import { sql } from 'kysely'
import type { PartName } from '#infra/servers/index.ts'
import { type Fault, sleepBetween } from '../run/fault.ts'
import type { System } from '../system/system.ts'

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
      await sleepBetween(random, 500, longestMs)
      await servers.part(part).start()
    },
  }
}

async function setReadOnly({ db }: System, value: 'on' | 'off'): Promise<void> {
  // Also in a session that is read-only by default.
  await sql.raw(`alter system set default_transaction_read_only = ${value}`).execute(db)
  await sql`select pg_reload_conf()`.execute(db)
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
      await sleepBetween(random, 500, 3_000)
      await Promise.all(parts.map(part => part.start()))
    },
  },
  {
    name: 'Postgres read-only',
    allows: 'everything',
    async run(system, random) {
      await setReadOnly(system, 'on')
      await sleepBetween(random, 1_000, 4_000).finally(() => setReadOnly(system, 'off'))
    },
  },
  {
    name: "Postgres's disk full",
    // A server that can no longer write its log ends itself.
    allows: 'no-orders',
    isPossible: ({ disk }) => disk !== undefined,
    async run({ disk, servers, deaths }, random) {
      const before = deaths.length
      disk?.fill()
      await sleepBetween(random, 2_000, 5_000).finally(() => disk?.free())
      // Does nothing if it is running.
      await servers.part('postgres').start()
      for (const death of deaths.splice(before).filter(text => !text.startsWith('postgres ended by itself')))
        deaths.push(death)
    },
  },
]
