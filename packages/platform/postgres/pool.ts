import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely'
import pg from 'pg'
import { reasonOf } from '../lifecycle/errors.ts'
import { databaseAddresses, forPg, wantsWritable } from '../settings/databaseUrl.ts'
import { timeout } from '../timing.ts'
import type { Database } from './database.ts'

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
    // Gateways and balancers drop a connection that is idle for 4 min, such as that of a lock.
    keepAliveInitialDelayMillis: 60_000,
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

const { builtins } = pg.types

/** bigint as a number: counts, cents, offsets and revisions stay below 2^53; anything else is an error. */
function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError('a bigint of the database is beyond 2^53')
  return value
}

/** JSON stays text (it is passed on unchanged); a timestamp becomes epoch milliseconds. */
const parsers = new Map<number, (text: string) => unknown>([
  [builtins.INT8, safeInteger],
  [builtins.TIMESTAMPTZ, text => Date.parse(`${text.replace(' ', 'T')}:00`)],
  [builtins.JSON, text => text],
])

/** How pg parses the values that it reads. */
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(oid)) || pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig

/**
 * One pool for several hosts, because pg supports only one: a connection comes from the host that served the last one
 * or, if that fails, from the next host that is reachable and writable.
 */
function firstWritable(pools: PostgresPool[]): PostgresPool {
  const [first] = pools
  if (first === undefined) throw new Error('no Postgres host is configured')
  if (pools.length === 1) return first
  let last = 0
  return {
    options: first.options,
    async connect() {
      const errors: unknown[] = []
      for (const at of [...pools.keys()].map(step => (last + step) % pools.length)) {
        try {
          const client = await (pools[at] as PostgresPool).connect()
          last = at
          return client
        } catch (error) {
          errors.push(error)
        }
      }
      throw new AggregateError(errors, `no host is writable: ${errors.map(reasonOf).join('; ')}`)
    },
    async end() {
      await Promise.all(pools.map(pool => pool.end()))
    },
  }
}

/** At most this many texts are prepared; Postgres parses further ones each time and keeps no plan for them. */
const maxPrepared = 200

/** The name to prepare a text under; undefined: the text is not prepared. */
type StatementNames = (text: string, values: readonly unknown[]) => string | undefined

/** Prepares texts that have parameters. All connections of a pool share the names. */
function createStatementNames(): StatementNames {
  const names = new Map<string, string>()
  return (text, values) => {
    if (values.length === 0) return undefined
    if (!names.has(text) && names.size < maxPrepared) names.set(text, `tally_${names.size}`)
    return names.get(text)
  }
}

/**
 * Errors that would repeat on the same connection: prepared statements that a pooler or a migration invalidated (26000,
 * 42P05, 0A000), and a server that has become a standby (25006).
 */
const spoilingStates = new Set(['26000', '42P05', '0A000', '25006'])

/**
 * The pool as kysely uses it: each connection prepares its texts, and is closed after an error that would repeat, or
 * after a query without an answer for `answerTimeoutMs`. pg's own `query_timeout` fires as soon as a frozen process
 * goes on, before it reads the answers that arrived meanwhile.
 */
function forKysely(pool: pg.Pool, nameOf: StatementNames, answerTimeoutMs: number): PostgresPool {
  return {
    options: pool.options,
    connect: async () => wrapConnection(await pool.connect(), nameOf, answerTimeoutMs),
    end: () => pool.end(),
  }
}

function wrapConnection(
  client: pg.PoolClient,
  nameOf: StatementNames,
  answerTimeoutMs: number,
): PostgresPoolClient {
  let isSpoilt = false

  const query = async (text: string, values: unknown[]) => {
    const answer = client.query({ name: nameOf(text, values), text, values } as pg.QueryConfig)
    try {
      return await timeout(answerTimeoutMs, answer)
    } catch (error) {
      const { name, code } = error as Error & { code?: string }
      isSpoilt ||= spoilingStates.has(code ?? '')
      if (name !== 'TimeoutError') throw error
      // The next query would wait for the hanging one, possibly forever: a host that vanished closes no connection.
      void (client as unknown as pg.Client).end()
      throw new Error('Query read timeout', { cause: error })
    }
  }
  return {
    // kysely's other form takes a cursor, which the dialect is not given.
    query: query as unknown as PostgresPoolClient['query'],
    release: isDiscarded => client.release(isDiscarded === true || isSpoilt),
  }
}
