import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { type ConnectionOptions, checkServerIdentity } from 'node:tls'
import { Cluster, Redis, type SentinelConnectionOptions, SentinelConnector } from 'ioredis'
import { parseSentinels, type RedisSentinels } from '../settings/redisUrl.ts'
import { openClusterClient, openOneAddress } from './cluster.ts'

/** A connection without scripts; `openRedis` adds those of its callers. */
export type RedisClient = Redis | Cluster

export type RedisOptions<Scripts extends ScriptSet = ScriptSet> = {
  name: string
  commandTimeoutMs: number
  onError: (error: Error) => void
  /**
   * Whether commands of one iteration of the event loop go to one node together (the default); they wait for the
   * replies to those before. Clients of a Redis Cluster always do that.
   */
  autoPipelining?: boolean
  /** They become methods of the client. */
  scripts?: Scripts
}

/**
 * Connects to one Redis or to the Redis Cluster behind its address, to the master that sentinels name or, with several
 * nodes, to a Redis Cluster. Commands fail at once while there is no connection (they are not queued), and after
 * `commandTimeoutMs`. The client reconnects by itself. Close it with `disconnect()`.
 */
export function openRedis<Scripts extends ScriptSet = Record<never, never>>(
  nodes: string[],
  { name, commandTimeoutMs, onError, autoPipelining = true, scripts }: RedisOptions<Scripts>,
): RedisClient & ScriptCalls<Scripts> {
  const options = sharedOptions(name, commandTimeoutMs, autoPipelining)
  const [first] = nodes
  if (first === undefined) throw new Error('no Redis node is configured')
  const sentinels = parseSentinels(first)
  const one = (onMoved: () => void) => {
    const reconnectOnError = (error: Error) => {
      if (error.message.startsWith('MOVED ')) onMoved()
      return options.reconnectOnError(error)
    }
    return withScripts(new Redis(first, { ...options, reconnectOnError }), scripts)
  }
  const cluster = () => withScripts(openClusterClient(nodes, clusterOptions(nodes, options)), scripts)
  const client = sentinels
    ? withScripts(new Redis({ ...options, ...sentinelOptions(sentinels) }), scripts)
    : nodes.length === 1
      ? openOneAddress(one, cluster)
      : cluster()
  const onFailure = (error: Error) => {
    lastErrors.set(client, error)
    onError(error)
  }
  client.on('error', onFailure).on('node error', onFailure)
  return client as RedisClient & ScriptCalls<Scripts>
}

type SharedOptions = ReturnType<typeof sharedOptions>

const sharedOptions = (name: string, commandTimeoutMs: number, autoPipelining: boolean) => ({
  connectionName: `tally-${name}`,
  commandTimeout: commandTimeoutMs,
  connectTimeout: 2_000,
  // A silent connection is replaced: a host that vanished closes no connection.
  socketTimeout: Math.max(2_000, 2 * commandTimeoutMs),
  // Reconnects when a former master has become a replica.
  reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
  enableOfflineQueue: false,
  enableAutoPipelining: autoPipelining,
  maxRetriesPerRequest: 0,
  retryStrategy: (attempt: number) => Math.min(50 * attempt, 500),
  keepAlive: 10_000,
})

/**
 * Defines all scripts at once: a pipeline knows only the scripts that were defined before it was opened. Calling
 * another one gives replies to the wrong callers and ends the process (redis/ioredis#1931, in ioredis 6.0.0).
 */
function withScripts<Client extends RedisClient>(client: Client, scripts: ScriptSet = {}): Client {
  for (const [script, { file, preludes }] of Object.entries(scripts)) {
    const parts = [...preludes, file]
    const lua = parts.map(part => readFileSync(part, 'utf8')).join('')
    client.defineCommand(script, { numberOfKeys: numberOfKeys(file) as number, lua })
  }
  return client
}

/** Why each client lost its connection, or could not connect: its commands do not say. */
const lastErrors = new WeakMap<RedisClient, Error>()

/** Resolves if Redis answers, of a cluster every master. Rejects with the reason, such as why it cannot connect. */
export async function pingRedis(redis: RedisClient): Promise<void> {
  try {
    const masters = redis instanceof Cluster ? redis.nodes('master') : []
    await Promise.all(masters.length === 0 ? [redis.ping()] : masters.map(node => node.ping()))
  } catch (error) {
    throw redis.status === 'ready' ? error : (lastErrors.get(redis) ?? error)
  }
}

/** Waits until the client is connected (true), an attempt to connect fails, or `timeoutMs` have passed (false). */
export async function whenReady(redis: RedisClient, timeoutMs: number): Promise<boolean> {
  if (redis.status !== 'ready')
    await once(redis, 'ready', { signal: AbortSignal.timeout(timeoutMs) }).catch(() => undefined)
  return redis.status === 'ready'
}

function sentinelOptions(given: RedisSentinels) {
  const { isTls, sentinels, name, username, password, sentinelUsername, sentinelPassword } = given
  const tls = namedTls(sentinels.map(({ host }) => host))
  return {
    Connector: ReconnectingSentinelConnector,
    sentinels,
    name,
    ...(username && { username }),
    ...(password && { password }),
    ...(sentinelUsername && { sentinelUsername }),
    ...(sentinelPassword && { sentinelPassword }),
    ...(isTls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
    sentinelCommandTimeout: 2_000,
    sentinelRetryStrategy: (attempt: number) => Math.min(50 * attempt, 500),
    // The sentinels announce a failover: a master that hangs or is cut off closes no connection.
    failoverDetector: true,
    sentinelReconnectStrategy: (attempt: number) => Math.min(50 * attempt, 1_000),
  }
}

/** A cluster announces its nodes without credentials, so those of the first node are used for all. */
function clusterOptions(nodes: string[], options: SharedOptions) {
  const urls = nodes.map(node => new URL(node))
  const { username = '', password = '', protocol } = urls[0] ?? {}
  return {
    redisOptions: {
      ...options,
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
      ...(protocol === 'rediss:' && { tls: namedTls(urls.map(({ hostname }) => hostname)) }),
    },
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    // ioredis would connect to an address that it finds for a name, and so check the certificate for that address.
    dnsLookup: (name: string, found: (error: null, address: string) => void) => found(null, name),
    // Slots that move close no connection, and ioredis does not follow MOVED in a pipeline that writes.
    slotsRefreshInterval: 5_000,
    clusterRetryStrategy: (attempt: number) => Math.min(50 * attempt, 500),
  }
}

/**
 * A Lua script, whose file name `<name>.<number of keys>.lua` has the number of its keys. If that is `n`, the number is
 * the first argument of each call.
 */
export type Script<Call> = {
  file: URL
  /** Prepended to the script, in this order. */
  preludes: URL[]
  /** The type of the call; never set. */
  call?: Call
}

export type ScriptSet = Record<string, Script<unknown>>

/** The methods that a client has for these scripts. */
export type ScriptCalls<Scripts extends ScriptSet> = {
  [Name in keyof Scripts]: Scripts[Name] extends Script<infer Call> ? Call : never
}

/** Describes a script; `openRedis` reads its file. */
export const script = <Call>(file: URL, ...preludes: URL[]): Script<Call> => ({ file, preludes })

/** Undefined if each call says how many keys follow. Throws if the file's name has neither the number nor `n`. */
function numberOfKeys(file: URL): number | undefined {
  const keys = /\.(\d+|n)\.lua$/.exec(file.pathname)?.[1]
  if (keys === undefined)
    throw new Error(`the name of a script must end in the number of its keys: ${file.pathname}`)
  return keys === 'n' ? undefined : Number(keys)
}

/**
 * TLS options for servers that announce each other: the nodes of a Redis Cluster, or a master that sentinels name. A
 * server that is announced by its address may have a certificate for one of the names in REDIS_URL (`hosts`) in place
 * of one for that address: clouds have certificates for names only, and announce addresses. Whoever could present such
 * a certificate could answer for the name itself, too. A server that is announced by a name must have that name.
 */
export function namedTls(hosts: string[]): ConnectionOptions {
  const names = hosts.filter(host => isIP(host) === 0)
  return {
    checkServerIdentity(host, certificate) {
      const fault = checkServerIdentity(host, certificate)
      if (fault === undefined || isIP(host) === 0) return fault
      return names.some(name => checkServerIdentity(name, certificate) === undefined) ? undefined : fault
    },
  }
}

type Connect = SentinelConnector['connect']

/**
 * The connector for Sentinel of ioredis 6.0.0 without one fault: the failover detector of a connection that was lost
 * listens on while the client connects again. A `+switch-master` that arrives while a sentinel is asked for the master
 * ends that attempt, and a client whose attempt was ended never connects again.
 */
class ReconnectingSentinelConnector extends SentinelConnector {
  constructor(options: unknown) {
    super(options as SentinelConnectionOptions)
  }

  override connect(...given: Parameters<Connect>): ReturnType<Connect> {
    // biome-ignore lint/complexity/useLiteralKeys: ioredis's type calls the detector private
    this['failoverDetector']?.cleanup()
    return super.connect(...given)
  }
}
