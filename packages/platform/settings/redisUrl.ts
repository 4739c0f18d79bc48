const shape = /^redis(s?)\+sentinel:\/\/(?:([^@/]*)@)?([^@/?]+)\/([^/?]+)(\?.*)?$/

export type RedisSentinels = {
  isTls: boolean
  sentinels: { host: string; port: number }[]
  /** The name under which the sentinels know the master. */
  name: string
  /** Of the Redis that the sentinels watch. */
  username: string
  password: string
  /** Of the sentinels themselves. */
  sentinelUsername: string
  sentinelPassword: string
}

/**
 * Parses `redis+sentinel://user:password@host:26379,host:26379/name`; `rediss+sentinel` uses TLS for both. Credentials
 * of the sentinels themselves: `?sentinelUsername=…&sentinelPassword=…`. Undefined for any other form.
 */
export function parseSentinels(url: string): RedisSentinels | undefined {
  const [, tls, credentials = '', hosts = '', name = '', query = ''] = shape.exec(url) ?? []
  if (tls === undefined || !isDecodable(credentials + name)) return undefined
  const addresses = hosts.split(',').map(host => `redis://${credentials}@${host}`)
  const [first] = addresses
  if (first === undefined || !addresses.every(address => URL.canParse(address))) return undefined
  const { username, password } = new URL(first)
  const parameters = new URLSearchParams(query)
  return {
    isTls: tls === 's',
    sentinels: addresses.map(address => {
      const { hostname, port } = new URL(address)
      return { host: hostname.replace(/^\[(.+)\]$/, '$1'), port: Number(port || 26_379) }
    }),
    name: decodeURIComponent(name),
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
    sentinelUsername: parameters.get('sentinelUsername') ?? '',
    sentinelPassword: parameters.get('sentinelPassword') ?? '',
  }
}

/** Whether every `%` begins an escape of UTF-8: a password that has a bare one cannot be read. */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** The hosts of the setting REDIS_URL for messages, without user and password. */
export const describeRedis = (nodes: string[]): string =>
  nodes
    .map(node => {
      const parsed = parseSentinels(node)
      if (parsed === undefined) return new URL(node).host
      return `${parsed.name} of ${parsed.sentinels.map(({ host, port }) => `${host}:${port}`).join(',')}`
    })
    .join(',')
