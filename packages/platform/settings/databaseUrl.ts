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

const usesLibpq = (url: string): boolean => /[?&]uselibpqcompat=true(&|$)/.test(url)
const parameter = (url: string, name: string): string | undefined =>
  new RegExp(`[?&]${name}=([^&]*)`).exec(url)?.[1]

/**
 * An address as pg gets it. pg 8 takes `prefer`, `require` and `verify-ca` for `verify-full`, with a warning of several
 * lines, because pg 9 will not: Tally writes what they mean. `sslrootcert=system` is libpq's word for the public
 * authorities, which Node trusts anyway, and for pg the name of a file.
 */
export function forPg(address: string): string {
  const checked = usesLibpq(address)
    ? address
    : address.replace(/([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, '$1verify-full')
  const system = parameter(checked, 'sslmode') === undefined ? 'sslmode=verify-full' : 'ssl=true'
  return checked.replace(/([?&])sslrootcert=system(?=&|$)/, `$1${system}`)
}

/** What to say about an address with which somebody else could answer in place of Postgres. Undefined: nothing. */
export function sslModeWarning(url: string): { found: string; mend: string } | undefined {
  const unchecked = uncheckedOf(url)
  if (unchecked === undefined) return undefined
  const mode = parameter(url, 'sslmode')
  const how = `${mode === undefined ? 'ssl=no-verify' : `sslmode=${mode}`}${usesLibpq(url) ? ' and uselibpqcompat' : ''}`
  return {
    found: `DATABASE_URL has ${how}, so ${unchecked} of Postgres is not checked`,
    mend: 'write sslmode=verify-full alone',
  }
}

/** What pg does not check; libpq takes `require` with a file of authorities for `verify-ca`. */
function uncheckedOf(url: string): 'the certificate' | 'the name in the certificate' | undefined {
  const mode = parameter(url, 'sslmode')
  if (mode === 'no-verify') return 'the certificate'
  if (mode === undefined) return parameter(url, 'ssl') === 'no-verify' ? 'the certificate' : undefined
  if (!usesLibpq(url) || !/^(prefer|require|verify-ca)$/.test(mode)) return undefined
  const hasAuthority = mode !== 'prefer' && parameter(url, 'sslrootcert') !== undefined
  return mode === 'verify-ca' || hasAuthority ? 'the name in the certificate' : 'the certificate'
}

/** Hosts, ports and database for messages, without user and password. */
export function describeDatabase(url: string): string {
  const addresses = databaseAddresses(url).map(address => new URL(address))
  const hosts = addresses.map(({ hostname, port }) => `${hostname || 'localhost'}:${port || 5432}`)
  return `${hosts.join(',')}${addresses[0]?.pathname ?? ''}`
}
