import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import { timeout } from '../timing/timeout.ts'

/** At most this many texts are prepared; Postgres parses further ones each time and keeps no plan for them. */
const maxPrepared = 200

/** The name to prepare a text under; undefined: the text is not prepared. */
export type StatementNames = (text: string, values: readonly unknown[]) => string | undefined

/** Prepares texts that have parameters. All connections of a pool share the names. */
export function createStatementNames(): StatementNames {
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
export function forKysely(pool: pg.Pool, nameOf: StatementNames, answerTimeoutMs: number): PostgresPool {
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
