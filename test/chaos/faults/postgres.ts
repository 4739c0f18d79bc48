import { sql } from 'kysely'
import { type Fault, last } from '../run/fault.ts'
import type { System } from '../system/system.ts'

async function setReadOnly({ db }: System, value: 'on' | 'off'): Promise<void> {
  // Also in a session that is read-only by default.
  await sql.raw(`alter system set default_transaction_read_only = ${value}`).execute(db)
  await sql`select pg_reload_conf()`.execute(db)
}

export const postgresFaults: Fault[] = [
  {
    name: 'Postgres read-only',
    allows: 'everything',
    async run(system, random) {
      await setReadOnly(system, 'on')
      await last(random, 1_000, 4_000).finally(() => setReadOnly(system, 'off'))
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
      await last(random, 2_000, 5_000).finally(() => disk?.free())
      // Does nothing if it is running.
      await servers.part('postgres').start()
      for (const death of deaths.splice(before).filter(text => !text.startsWith('postgres ended by itself')))
        deaths.push(death)
    },
  },
]
