import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Fault, sleepBetween } from '../run/fault.ts'
import type { Service } from '../system/service.ts'
import type { System } from '../system/system.ts'

/** Transactions that a frozen projector left open. */
async function idleTransactions({ db }: System): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`
select pid from pg_stat_activity
where application_name = 'tally-projector' and state = 'idle in transaction'
  and state_change < clock_timestamp() - interval '300 ms'`.execute(db)
  return rows.map(({ pid }) => pid)
}

/** Freezes a projector, repeatedly until it happens to be inside a transaction. Returns the transactions. */
async function freezeInTransaction(system: System, projector: Service): Promise<number[]> {
  for (let tries = 0; tries < 200; tries++) {
    projector.freeze()
    await sleep(350)
    const transactions = await idleTransactions(system)
    if (transactions.length > 0) return transactions
    projector.resume()
    await sleep(20 + (tries % 7) * 5)
  }
  throw new Error('no projector was ever frozen inside a transaction')
}

export const frozenFaults: Fault[] = [
  {
    name: 'projector frozen in a transaction until Postgres ends it',
    allows: 'everything',
    prepare: system => system.scaleTo(2),
    async run(system, random) {
      const projector = random.of(system.projectors)
      try {
        const transactions = await freezeInTransaction(system, projector)
        const left = async () => (await idleTransactions(system)).filter(pid => transactions.includes(pid))
        while ((await left()).length > 0) await sleep(200)
        await sleepBetween(random, 0, 2_000)
      } finally {
        projector.resume()
      }
    },
  },
  {
    name: 'query process frozen, goes on',
    allows: 'everything',
    async run(system, random) {
      const query = random.of(system.queries)
      query.freeze()
      await sleepBetween(random, 2_000, 8_000).finally(query.resume)
    },
  },
]
