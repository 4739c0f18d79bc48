import pg from 'pg'

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
export const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(oid)) || pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig
