import { describeDatabase, openPool, type Postgres, type Settings } from '@tally/platform'
import { checkSchema, lackedTables, leftContracts, SchemaError } from '@tally/schema'
import { sql } from 'kysely'
import { type DoctorFinding, fail, ok } from './check.ts'
import { type Reached, reach, reachTimeoutMs } from './reach.ts'

/** What the checks of Postgres need. */
export type PostgresDeps = { db: Postgres }

/** The oldest Postgres that Tally works with (docs/install.md, Installation). */
const oldestVersion = 15

/** Signs in to Postgres. `onOpen` gets what closes the connections. */
export function reachPostgres(
  settings: Settings,
  wrongSettings: boolean,
  onOpen: (close: () => Promise<void>) => void,
): Promise<Reached<PostgresDeps>> {
  const { databaseUrl } = settings
  const address = describeDatabase(databaseUrl)
  return reach(
    'postgres',
    { settings, wrongSettings, address, mend: 'start it, or correct DATABASE_URL' },
    async () => {
      // Without an epoch, unlike openPostgres: nothing is written.
      const db = openPool(databaseUrl, {
        name: 'doctor',
        max: 4,
        statementTimeoutMs: reachTimeoutMs,
        onError: () => {},
      })
      onOpen(() => db.destroy())
      const { rows } = await sql<{ isReadOnly: boolean }>`
select current_setting('transaction_read_only') = 'on' as "isReadOnly"`.execute(db)
      const finding = rows[0]?.isReadOnly
        ? fail(
            `${address} is read-only`,
            'point DATABASE_URL to the primary, or name all hosts in it (host1,host2)',
          )
        : ok(address)
      return { finding, deps: { db } }
    },
  )
}

/** Whether Postgres is recent enough. */
export async function checkPostgresVersion({ db }: PostgresDeps): Promise<DoctorFinding> {
  const { rows } = await sql<{ number: number; text: string }>`
select current_setting('server_version_num')::int as number, current_setting('server_version') as text`.execute(
    db,
  )
  const [{ number, text } = { number: 0, text: 'unknown' }] = rows
  if (number >= oldestVersion * 10_000) return ok(text)
  return fail(`${text} is too old`, `upgrade Postgres to ${oldestVersion} or later`)
}

/** Whether this role may use the tables, and their schema fits this program. */
export async function checkSchemaVersion({ db }: PostgresDeps): Promise<DoctorFinding> {
  const [closed, ...others] = await lackedTables(db)
  if (closed !== undefined) {
    const more = others.length === 1 ? '1 more table' : `${others.length} more tables`
    return fail(
      `no right to use ${others.length === 0 ? closed : `${closed} and ${more}`}`,
      'run `tally migrate` as the owner of the schema, which grants the roles of the services their rights (docs/install.md, Database roles)',
    )
  }
  try {
    await checkSchema(db)
    const left = await leftContracts(db)
    return ok(
      left.length === 0
        ? 'that of this program'
        : `fits this program; ${left.join(', ')} is left for tally migrate --contract`,
    )
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    const [found = '', mend = ''] = error.message.split(': ')
    return fail(found, mend)
  }
}

/**
 * Whether a connection keeps its session. Two clients that are connected at the same time never share a server process,
 * unless a pooler lends them one for each transaction.
 */
export async function checkPooler({ db }: PostgresDeps): Promise<DoctorFinding> {
  const [one, other, again] = await db.connection().execute(async first => {
    const one = await processOf(first)
    const other = await db.connection().execute(processOf)
    return [one, other, await processOf(first)]
  })
  if (one === again && one !== other) return ok('each connection keeps its session')
  return fail(
    'a pooler in transaction mode loses settings and prepared statements',
    'set pool_mode = session in PgBouncer, or connect to Postgres directly (Neon: the host without -pooler; Supabase: port 5432, not 6543; Azure: 5432, not 6432)',
  )
}

async function processOf(db: Postgres): Promise<number | undefined> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  return rows[0]?.pid
}
