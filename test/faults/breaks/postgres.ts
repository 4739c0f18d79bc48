import { noteStall } from '@tally/offsets'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { startPgbouncer } from '../../cluster/pgbouncer.ts'
import { type Break, relayWithChange } from './break.ts'
import { type Installation, setPostgres } from './installation.ts'

const urlOf = ({ tally }: Installation): string => tally.settings.DATABASE_URL ?? ''

/** Tally's database with another login. */
const as = (of: Installation, login: { username?: string; password: string }): string =>
  Object.assign(new URL(urlOf(of)), login).href

/** Changes a setting of the server until the end of the test. */
const setting = (line: string, what: string, [name, value, usual]: [string, string, string]): Break => ({
  line,
  what,
  make: async ({ db }, undo) => {
    await setPostgres(db, name, value)
    undo(() => setPostgres(db, name, usual))
    return {}
  },
})

export const postgresBreaks: Break[] = [
  {
    line: 'fail postgres',
    what: 'Postgres is down',
    make: () => ({ DATABASE_URL: 'postgres://u:hidden@127.0.0.1:1/tally' }),
  },
  {
    line: 'fail postgres',
    what: 'a wrong password',
    make: of => ({ DATABASE_URL: as(of, { password: 'hidden' }) }),
  },
  {
    line: 'fail postgres',
    what: 'a read-only Postgres',
    make: async (of, undo) => {
      await sql`create role reader superuser login password 'hidden'`.execute(of.db)
      undo(() => sql`drop role reader`.execute(of.db))
      await sql`alter role reader set default_transaction_read_only = on`.execute(of.db)
      return { DATABASE_URL: as(of, { username: 'reader', password: 'hidden' }) }
    },
  },
  {
    line: 'fail postgres',
    what: 'a port that speaks TLS at once',
    says: /it speaks TLS: .*sslnegotiation=direct/,
    make: ({ kafka }) => ({ DATABASE_URL: `postgres://u:hidden@${kafka.tls}/tally` }),
  },
  {
    line: 'fail postgres',
    what: 'a file of an authority that is missing',
    says: /a file that DATABASE_URL names cannot be read/,
    // A server without TLS: the certificate of the other one expires soon.
    make: ({ pair }) => ({ DATABASE_URL: `${pair.standby.url}?sslrootcert=/not/there` }),
  },
  {
    line: 'fail postgres version',
    what: 'an old Postgres',
    make: async (of, undo) => ({
      DATABASE_URL: await relayWithChange(urlOf(of), { from: /\b18(\d{4})\b/g, to: '14$1', undo }),
    }),
  },
  {
    line: 'fail schema',
    what: 'a migration is missing',
    make: async ({ db }, undo) => {
      const { rows } = await sql<{ name: string; timestamp: string }>`
delete from kysely_migration
where name = (select max(name) from kysely_migration where name not like '%-contract-%')
returning name, timestamp`.execute(db)
      const [{ name, timestamp } = { name: '', timestamp: '' }] = rows
      undo(() =>
        sql`insert into kysely_migration (name, timestamp) values (${name}, ${timestamp})`.execute(db),
      )
      return {}
    },
  },
  {
    line: 'fail schema',
    what: 'a role without rights on the tables',
    make: async (of, undo) => {
      await sql`create role stranger login password 'hidden'`.execute(of.db)
      undo(() => sql`drop role stranger`.execute(of.db))
      return { DATABASE_URL: as(of, { username: 'stranger', password: 'hidden' }) }
    },
  },
  {
    line: 'fail stalled',
    what: 'a partition that waits for a decision',
    says: /orders-1 \(gap\): .*run `tally offsets accept/,
    make: async of => {
      const { names, settings } = await of.otherTopics()
      const state = { state: 'gap', message: `run \`tally offsets accept ${names.orders} 1\`` } as const
      await noteStall(of.db, { topic: names.orders, partition: 1 }, state)
      return settings
    },
  },
  {
    line: 'fail pooler',
    what: 'PgBouncer in transaction mode',
    says: /connect to Postgres directly \(Neon/,
    make: async (of, undo) => {
      const pooler = await startPgbouncer(urlOf(of), { mode: 'transaction' })
      undo(pooler.stop)
      return { DATABASE_URL: pooler.url }
    },
  },
  {
    line: 'fail replication',
    what: 'a standby that lags',
    make: async ({ db, standby }, undo) => {
      await sql`select pg_wal_replay_pause()`.execute(standby)
      undo(async () => {
        await sql`select pg_wal_replay_resume()`.execute(standby)
        await until('the standby has caught up', async () => {
          const { rows } = await sql<{ isBehind: boolean }>`
select pg_wal_lsn_diff(sent_lsn, replay_lsn) > 0 as "isBehind" from pg_stat_replication`.execute(db)
          return rows[0]?.isBehind === false
        })
      })
      await sql`
select pg_logical_emit_message(false, 'test', repeat('x', 1024 * 1024)) from generate_series(1, 70)`.execute(
        db,
      )
      return {}
    },
  },
  {
    line: 'fail replication',
    what: 'a slot that nothing reads',
    make: async ({ db }, undo) => {
      await sql`select pg_create_physical_replication_slot('gone')`.execute(db)
      undo(() => sql`select pg_drop_replication_slot('gone')`.execute(db))
      return {}
    },
  },
  setting('fail replication', 'a synchronous standby that is gone', [
    'synchronous_standby_names',
    'gone',
    '',
  ]),
  setting('fail vacuum', 'autovacuum is off', ['autovacuum', 'off', 'on']),
  {
    line: 'fail vacuum',
    what: 'a table of dead rows',
    make: async ({ db }, undo) => {
      await sql`create table bloated as select from generate_series(1, 150000)`.execute(db)
      undo(() => sql`drop table bloated`.execute(db))
      await sql`delete from bloated`.execute(db)
      await until('Postgres has counted them', async () => {
        await sql`select pg_stat_force_next_flush()`.execute(db)
        const { rows } = await sql<{ dead: number }>`
select n_dead_tup as dead from pg_stat_user_tables where relname = 'bloated'`.execute(db)
        return (rows[0]?.dead ?? 0) >= 150_000
      })
      return {}
    },
  },
]
