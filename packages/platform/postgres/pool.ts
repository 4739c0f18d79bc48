import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { databaseAddresses, forPg, wantsWritable } from '../settings/databaseUrl.ts'
import { timeout } from '../timing/timeout.ts'
import { createStatementNames, forKysely, type StatementNames } from './connection.ts'
import type { Database } from './database.ts'
import { firstWritable } from './firstWritable.ts'
import { types } from './types.ts'

/** Set by a query on each new connection, because PgBouncer refuses them as startup parameters (pg's own options). */
const always = { TimeZone: 'UTC', DateStyle: 'ISO', idle_in_transaction_session_timeout: '30000' }
/**
 * One plan for a prepared text, whatever its values. By itself, Postgres takes an array that it does not know for one
 * of ten elements, and so planned statements with shorter ones, as publications have them, each time they ran. A kept
 * plan may have been made while a table was empty. It would then scan the whole table until Postgres analyzes it again,
 * although every query is by key.
 */
const keptPlans = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', jit: 'off' }

/** How long Postgres's own limit of a statement may be late. */
const graceMs = 1_000
/** How long a new connection may take until its settings are set. */
const sessionTimeoutMs = 5_000

export type PoolOptions = {
  name: string
  max: number
  statementTimeoutMs: number
  /** How long a query waits for a connection, new or idle; 2 s by default. */
  connectTimeoutMs?: number
  /** How long a statement waits for a lock before it fails with 55P03; by default as long as the statement may take. */
  lockTimeoutMs?: number
  /**
   * Prepares each text once per connection, for processes that repeat the same few queries. Such a text must name its
   * columns: after a migration adds one, a prepared `select *` fails for as long as the connection lives.
   */
  prepares?: boolean
  /** Further settings of Postgres for each connection, such as `search_path`. */
  session?: Record<string, string>
  /** Called with each new connection before it is used; if it fails, the connection is closed. */
  onConnect?: (client: pg.ClientBase) => Promise<void>
  /** Called with the pool of each host, for the metrics. */
  onOpen?: (pool: PoolCounts) => void
  onError: (error: Error) => void
}

type PoolCounts = Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount' | 'options'>

/**
 * Opens a pool of connections to the database at `url`; it connects when it is first used. If `url` names several
 * hosts, each connection uses the first that is writable. `onError` is called with errors of idle connections, which
 * the pool replaces. Close the pool with `destroy()`.
 */
export function openPool(url: string, options: PoolOptions): Kysely<Database> {
  const mustWrite = wantsWritable(url)
  const nameOf: StatementNames = options.prepares ? createStatementNames() : () => undefined
  const pools = databaseAddresses(url).map(address =>
    forKysely(openHost(address, options, mustWrite), nameOf, options.statementTimeoutMs + graceMs),
  )
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool: firstWritable(pools) }) })
}

function openHost(address: string, options: PoolOptions, mustWrite: boolean): pg.Pool {
  const {
    name,
    max,
    statementTimeoutMs,
    connectTimeoutMs = 2_000,
    lockTimeoutMs = 0,
    prepares = false,
    session = {},
    onError,
  } = options
  const settings = {
    ...always,
    statement_timeout: String(statementTimeoutMs),
    lock_timeout: String(lockTimeoutMs),
    ...(prepares ? keptPlans : {}),
    ...session,
  }
  const pool = new pg.Pool({
    connectionString: forPg(address),
    application_name: `tally-${name}`,
    max,
    types,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    // pg-pool waits for it, and closes the connection if it fails; kysely's onCreateConnection would leave the
    // connection in the pool forever.
    onConnect: async client => {
      await timeout(sessionTimeoutMs, beginSession(client, settings, mustWrite))
      if (options.onConnect) await timeout(statementTimeoutMs + graceMs, options.onConnect(client))
    },
  })
  options.onOpen?.(pool)
  pool.on('error', onError)
  // The query of a connection that breaks while in use fails; without a listener, the error would also end the process.
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

/** Resolves if Postgres answers; rejects with pg's error. */
export async function pingPostgres(db: Kysely<Database>): Promise<void> {
  await sql`select 1`.execute(db)
}

/** Throws 25006 if the connection must be writable and is not. */
async function beginSession(
  client: pg.ClientBase,
  settings: Record<string, string>,
  mustWrite: boolean,
): Promise<void> {
  const { rows } = await client.query({
    text: `
select current_setting('transaction_read_only') = 'on' as "isReadOnly", set_config(name, value, false)
from unnest($1::text[], $2::text[]) as session (name, value)`,
    values: [Object.keys(settings), Object.values(settings)],
  })
  if (mustWrite && rows[0]?.isReadOnly === true)
    throw Object.assign(new Error('this Postgres is read-only, perhaps a standby'), { code: '25006' })
}
