import pg from 'pg'
import { Kysely, PostgresDialect } from 'kysely'
import type { Database } from './database.ts'

const { builtins } = pg.types

/** bigint as a number: counts, cents, offsets and revisions stay below 2^53; anything else is a fault to hear of. */
function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError('a bigint of the database is beyond 2^53')
  return value
}

/** Types as this code wants them: JSON stays text (it is handed on as it is), timestamps are epoch milliseconds. */
const parsers = new Map<number, (text: string) => unknown>([
  [builtins.INT8, safeInteger],
  [builtins.TIMESTAMPTZ, text => Date.parse(`${text.replace(' ', 'T')}:00`)],
  [builtins.JSON, text => text],
])
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(oid)) || pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig

const settings = '-c TimeZone=UTC -c DateStyle=ISO'
/**
 * A plan that is kept is made when a table may still be empty, and then would read all of it for as long as Postgres has not
 * analyzed it anew. Everything is asked by key.
 */
const keptPlans = '-c enable_seqscan=off -c jit=off'

export type PoolOptions = {
  name: string
  max: number
  statementTimeoutMs: number
  /**
   * Postgres parses and plans each text once a connection: for who asks the same few questions all the time. Such a text
   * names its columns: `select *` would fail for as long as the connection lives once a migration adds one.
   */
  prepares?: boolean
  onError: (error: Error) => void
}
export type Postgres = Kysely<Database>

/**
 * A pool of connections to the database at `url`; opens none until it is used. `onError` hears of idle
 * connections that break; the pool replaces them by itself. Close it with `destroy()`.
 */
export function openPostgres(
  url: string,
  { name, max, statementTimeoutMs, prepares = false, onError }: PoolOptions,
): Postgres {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: `tally-${name}`,
    max,
    types,
    connectionTimeoutMillis: 2_000,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + 1_000,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    options: prepares ? `${settings} ${keptPlans}` : settings,
  })
  pool.on('error', onError)
  // A connection that breaks while it is in use tells its query; without a listener of its own it would end the process.
  pool.on('connect', client => client.on('error', () => {}))
  if (prepares) prepareQueries(pool)
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
}

/** More texts than this are not of few questions: the others are parsed each time, and Postgres keeps no plan of them. */
const mostPrepared = 200

function prepareQueries(pool: pg.Pool): void {
  const names = new Map<string, string>()
  const nameOf = (text: string): string | undefined => {
    if (!names.has(text) && names.size < mostPrepared) names.set(text, `tally_${names.size}`)
    return names.get(text)
  }
  pool.on('connect', client => {
    const query = client.query.bind(client) as (text: unknown, values: unknown) => unknown
    client.query = ((text: unknown, values: unknown) =>
      typeof text === 'string' && Array.isArray(values) && values.length > 0
        ? query({ name: nameOf(text), text, values }, undefined)
        : query(text, values)) as typeof client.query
  })
}
