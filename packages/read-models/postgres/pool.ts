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

export type PoolOptions = {
  name: string
  max: number
  statementTimeoutMs: number
  onError: (error: Error) => void
}
export type Postgres = Kysely<Database>

/**
 * A pool of connections to the database at `url`; opens none until it is used. `onError` hears of idle
 * connections that break; the pool replaces them by itself. Close it with `destroy()`.
 */
export function openPostgres(url: string, { name, max, statementTimeoutMs, onError }: PoolOptions): Postgres {
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
    options: '-c TimeZone=UTC -c DateStyle=ISO',
  })
  pool.on('error', onError)
  // A connection that breaks while it is in use tells its query; without a listener of its own it would end the process.
  pool.on('connect', client => client.on('error', () => {}))
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
}
