const shape = /^(postgres(?:ql)?:\/\/)([^/?#]*)(.*)$/is

/**
 * Splits `postgres://user:password@host:port,host:port/database?parameters` (libpq's form for several servers) into
 * one address for each host, in the order given. Returns an empty list if the text has another form.
 */
export function databaseAddresses(url: string): string[] {
  const [, scheme, authority, rest] = shape.exec(url) ?? []
  if (scheme === undefined || authority === undefined) return []
  const begin = authority.lastIndexOf('@') + 1
  const hosts = authority.slice(begin).split(',')
  const addresses = hosts.map(host => `${scheme}${authority.slice(0, begin)}${host}${rest}`)
  return addresses.every(address => URL.canParse(address)) && !(hosts.length > 1 && hosts.includes(''))
    ? addresses
    : []
}

/** libpq's `target_session_attrs`, with the values that make sense for Tally, which writes. */
const sessionAttributes = /[?&]target_session_attrs=([^&]*)/
export const isDatabaseUrl = (url: string): boolean =>
  databaseAddresses(url).length > 0 && /^(read-write|primary)?$/.test(sessionAttributes.exec(url)?.[1] ?? '')

/** True if a server that is read-only (a standby) must be passed over. */
export const wantsWritable = (url: string): boolean =>
  databaseAddresses(url).length > 1 || sessionAttributes.test(url)

/**
 * What to say about an `sslmode` other than `verify-full`, which alone checks the server's certificate and name with
 * every version of pg: pg 8 takes `prefer`, `require` and `verify-ca` for it, pg 9 will not. Undefined: nothing.
 */
export function sslModeWarning(url: string): { found: string; mend: string } | undefined {
  const mode = /[?&]sslmode=([^&]*)/.exec(url)?.[1] ?? 'disable'
  if (mode === 'disable' || mode === 'verify-full') return undefined
  return {
    found: `DATABASE_URL has sslmode=${mode}, with which a later version may not check the certificate of Postgres`,
    mend: 'write sslmode=verify-full',
  }
}

/** Hosts, ports and database for messages, without user and password. */
export function describeDatabase(url: string): string {
  const addresses = databaseAddresses(url).map(address => new URL(address))
  const hosts = addresses.map(({ hostname, port }) => `${hostname || 'localhost'}:${port || 5432}`)
  return `${hosts.join(',')}${addresses[0]?.pathname ?? ''}`
}
