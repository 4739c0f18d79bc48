import { describeDatabase, openPool, type Postgres } from '@tally/platform'
import { checkSchema, forbiddenTables, leftContracts, SchemaError, serviceNames } from '@tally/schema'
import { sql } from 'kysely'
import { type Checks, type DoctorFinding, fail, ok, type Reach, reach, reachTimeoutMs } from './check.ts'

/** What the checks of Postgres need. */
export type PostgresDeps = { db: Postgres }

/** The oldest Postgres that Tally works with (docs/install.md, Installation). */
const oldestVersion = 15

/** Signs in to Postgres. `onOpen` gets what closes the connections. */
export function reachPostgres({ settings, wrongSettings, onOpen }: Reach) {
  const { databaseUrl } = settings
  const address = describeDatabase(databaseUrl)
  const mend = 'start it, or correct DATABASE_URL'
  return reach('postgres', { settings, wrongSettings, address, mend }, async () => {
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
  })
}

/** Whether Postgres is recent enough. */
async function checkPostgresVersion({ db }: PostgresDeps): Promise<DoctorFinding> {
  const { rows } = await sql<{ number: number; text: string }>`
select current_setting('server_version_num')::int as number, current_setting('server_version') as text`.execute(
    db,
  )
  const [{ number, text } = { number: 0, text: 'unknown' }] = rows
  if (number >= oldestVersion * 10_000) return ok(text)
  return fail(`${text} is too old`, `upgrade Postgres to ${oldestVersion} or later`)
}

/** Which services this role has the rights of, and whether the schema fits this program. */
async function checkSchemaVersion({ db }: PostgresDeps): Promise<DoctorFinding> {
  const forbidden = await Promise.all(serviceNames.map(service => forbiddenTables(db, service)))
  const served = serviceNames.filter((_, index) => forbidden[index]?.length === 0)
  if (served.length === 0) {
    const [fewest = []] = forbidden.toSorted((one, other) => one.length - other.length)
    return fail(
      `no right to use ${fewest.join(', ')}`,
      'run `tally migrate` as the owner of the schema, which grants the roles of the services their rights (docs/install.md, Database roles)',
    )
  }
  try {
    await checkSchema(db)
    const left = await leftContracts(db)
    const version =
      left.length === 0
        ? 'that of this program'
        : `fits this program; ${left.join(', ')} is left for tally migrate --contract`
    const rights =
      served.length === serviceNames.length ? 'every service' : `tally ${served.join(' and tally ')}`
    return ok(`${version}; this role has the rights of ${rights}`)
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
async function checkPooler({ db }: PostgresDeps): Promise<DoctorFinding> {
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

/** Autovacuum starts at 20 % dead rows by default; a table above this share has waited for long. */
const maxDeadShare = 0.5
/** Below this number of dead rows a table is small whatever their share. */
const fewRows = 100_000
/** Postgres begins forced vacuums at 200 million transactions, and stops at 2,000 million. */
const maxAge = 1_000_000_000

/** Whether Postgres cleans its tables up: autovacuum, dead rows, age of the oldest transaction id. */
async function checkVacuum({ db }: PostgresDeps): Promise<DoctorFinding> {
  const { rows } = await sql<{ found: string; mend: string }>`
select 'autovacuum is off, so that tables only grow' as found, 'set autovacuum = on and track_counts = on' as mend
where 'off' in (current_setting('autovacuum'), current_setting('track_counts'))
union all
select 'autovacuum is off for ' || string_agg(relname, ', ' order by relname),
  'alter table … reset (autovacuum_enabled)'
from pg_class
where relkind = 'r' and relnamespace = quote_ident(current_schema())::regnamespace
  and reloptions && '{autovacuum_enabled=false,autovacuum_enabled=off}'
having count(*) > 0
union all
(select format('%s %% of the rows of %s are dead (%s)', 100 * n_dead_tup / (n_live_tup + n_dead_tup), relname, n_dead_tup),
  format('vacuum %s; look in pg_stat_activity for a transaction that has been open for long', relname)
from pg_stat_user_tables
where schemaname = current_schema() and n_dead_tup > ${fewRows}
  and n_dead_tup > ${maxDeadShare}::float8 * (n_live_tup + n_dead_tup)
order by n_dead_tup desc limit 1)
union all
select format('the oldest transaction id is %s transactions old', age(datfrozenxid)), 'run vacuumdb --freeze on the database'
from pg_database where datname = current_database() and age(datfrozenxid) > ${maxAge}`.execute(db)
  const [first] = rows
  return first === undefined ? ok('autovacuum is on, and keeps up') : fail(first.found, first.mend)
}

/** A standby that is further behind loses what Tally must read again from Kafka, and its WAL fills the disk. */
const maxLagBytes = 64 * 1024 ** 2
const maxLagMs = 30_000

/** Without the role pg_monitor, `isSynchronous` is null and the lag 0. */
type Standby = { name: string; bytes: number; lagMs: number; isSynchronous: boolean | null }

/**
 * Whether all standbys that Postgres knows of follow. It knows one that is gone by its replication slot, or by
 * `synchronous_standby_names`.
 */
async function checkReplication({ db }: PostgresDeps): Promise<DoctorFinding> {
  const { rows: standbys } = await sql<Standby>`
select
  application_name as name,
  coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::bigint as bytes,
  coalesce(extract(epoch from replay_lag) * 1000, 0)::bigint as "lagMs",
  sync_state in ('sync', 'quorum') as "isSynchronous"
from pg_stat_replication where not pg_is_in_recovery()`.execute(db)
  const { rows: slots } = await sql<{ name: string }>`
select slot_name as name from pg_replication_slots where not active order by slot_name`.execute(db)
  const { rows: settings } = await sql<{ synchronous: string }>`
select current_setting('synchronous_standby_names') as synchronous`.execute(db)
  return judge(
    standbys,
    slots.map(({ name }) => name),
    settings[0]?.synchronous ?? '',
  )
}

function judge(standbys: Standby[], unusedSlots: string[], synchronous: string): DoctorFinding {
  if (synchronous !== '' && standbys.every(({ isSynchronous }) => isSynchronous === false))
    return fail(
      `commits wait for a synchronous standby, and none is connected (${synchronous})`,
      'start the standby, or correct synchronous_standby_names',
    )
  if (unusedSlots.length > 0)
    return fail(
      `nothing reads replication slot ${unusedSlots.join(', ')}, and its WAL fills the disk`,
      'start the standby again, or drop the slot with pg_drop_replication_slot',
    )
  const behind = standbys.find(({ bytes, lagMs }) => bytes > maxLagBytes || lagMs > maxLagMs)
  if (behind !== undefined)
    return fail(
      `standby ${behind.name} is ${lagOf(behind)} behind`,
      'look at its log, disk and network, and for queries on it that hold up its replay',
    )
  return ok(standbys.length === 0 ? 'no standby' : standbys.map(stateOf).join(', '))
}

const stateOf = (standby: Standby): string =>
  standby.isSynchronous === null
    ? `${standby.name} is connected, and only a member of pg_monitor sees its lag`
    : `${standby.name} is ${lagOf(standby)} behind`

const lagOf = ({ bytes, lagMs }: Standby): string =>
  `${(bytes / 1024 ** 2).toFixed(1)} MiB and ${(lagMs / 1_000).toFixed(1)} s`

export const postgresChecks: Checks<PostgresDeps> = {
  'postgres version': checkPostgresVersion,
  schema: checkSchemaVersion,
  pooler: checkPooler,
  replication: checkReplication,
  vacuum: checkVacuum,
}
