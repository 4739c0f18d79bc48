import pg from 'pg'

const { builtins } = pg.types

/** bigint as a number: counts, cents, offsets and revisions stay below 2^53; anything else is an error. */
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
export const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(oid)) || pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig

/** At most this many texts are prepared; Postgres parses further ones each time and keeps no plan of them. */
const mostPrepared = 200

/**
 * Errors that would repeat on the same connection: prepared statements that a pooler or a migration invalidated (26000,
 * 42P05, 0A000), and a server that has become a standby (25006).
 */
const spoiling = new Set(['26000', '42P05', '0A000', '25006'])

/** One connection; `isSpoilt` means that its pool must not hand it out again. */
export class Client extends pg.Client {
  isSpoilt = false

  /** The name to prepare a text under, or undefined; a pool that prepares overrides this. */
  protected nameOf(_text: string): string | undefined {
    return undefined
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg has ten overloads of it
  override query(text: any, values?: any, callback?: any): any {
    const name = typeof text === 'string' && Array.isArray(values) && values.length > 0 && this.nameOf(text)
    const result = name
      ? super.query({ name, text, values } as pg.QueryConfig, callback)
      : super.query(text, values, callback)
    if (result instanceof Promise) result.catch(error => this.judge(error))
    return result
  }

  private judge({ code, message }: Error & { code?: string }): void {
    // The next query would wait for the hanging one, possibly forever: a host that vanished closes no connection.
    if (message === 'Query read timeout') void this.end()
    this.isSpoilt ||= spoiling.has(code ?? '')
  }
}

/** The connection class of one pool that prepares: all its connections give a text the same name. */
export function preparingClient(): typeof Client {
  const names = new Map<string, string>()
  return class extends Client {
    protected override nameOf(text: string): string | undefined {
      if (!names.has(text) && names.size < mostPrepared) names.set(text, `tally_${names.size}`)
      return names.get(text)
    }
  }
}
