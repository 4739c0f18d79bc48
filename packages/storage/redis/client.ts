import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { parseSentinels, type RedisSentinels } from '@tally/runtime'
import { Cluster, Redis } from 'ioredis'
import { numberOfKeys, type ScriptCalls, type ScriptSet } from './scripts.ts'
import { ReconnectingSentinelConnector } from './sentinelConnector.ts'

/** A connection without scripts; `openRedis` adds those of its callers. */
export type RedisClient = Redis | Cluster

export type RedisOptions = {
  name: string
  commandTimeoutMs: number
  onError: (error: Error) => void
  /**
   * Whether commands of one iteration of the event loop go to one node together (the default); they wait for the
   * replies to those before. Clients of a Redis Cluster always do that.
   */
  autoPipelining?: boolean
}

/**
 * Connects to one Redis, to the master that sentinels name or, with several nodes, to a Redis Cluster. Commands fail at
 * once while there is no connection (they are not queued), and after `commandTimeoutMs`. The client reconnects by
 * itself. `scripts` become methods of the client. Close it with `disconnect()`.
 */
export function openRedis<Scripts extends ScriptSet = Record<never, never>>(
  nodes: string[],
  { name, commandTimeoutMs, onError, autoPipelining = true }: RedisOptions,
  scripts?: Scripts,
): RedisClient & ScriptCalls<Scripts> {
  const options = {
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
  }
  const [first] = nodes
  if (first === undefined) throw new Error('no Redis node is configured')
  const sentinels = parseSentinels(first)
  const client = sentinels
    ? new Redis({ ...options, ...sentinelOptions(sentinels) })
    : nodes.length === 1
      ? new Redis(first, options)
      : new Cluster(nodes, {
          redisOptions: { ...options, ...credentialsOf(first) },
          enableOfflineQueue: false,
          enableAutoPipelining: true,
          // Slots that move close no connection, and ioredis does not follow MOVED in a pipeline that writes.
          slotsRefreshInterval: 5_000,
          clusterRetryStrategy: attempt => Math.min(50 * attempt, 500),
        })
  client.on('error', error => {
    lastErrors.set(client, error)
    onError(error)
  })
  // All scripts at once: a pipeline knows only the scripts that were defined before it was opened. Calling another one
  // gives replies to the wrong callers and ends the process (redis/ioredis#1931, in ioredis 6.0.0).
  for (const [script, { file, preludes }] of Object.entries(scripts ?? {})) {
    const parts = [...preludes, file]
    const lua = parts.map(part => readFileSync(part, 'utf8')).join('')
    client.defineCommand(script, { numberOfKeys: numberOfKeys(file) as number, lua })
  }
  return client as RedisClient & ScriptCalls<Scripts>
}

/** Why each client lost its connection, or could not connect: its commands do not say. */
const lastErrors = new WeakMap<RedisClient, Error>()

/**
 * Resolves if Redis answers, of a cluster every master. Rejects with the reason, such as why it cannot be connected.
 */
export async function pingRedis(redis: RedisClient): Promise<void> {
  try {
    const masters = redis instanceof Cluster ? redis.nodes('master') : []
    await Promise.all(masters.length === 0 ? [redis.ping()] : masters.map(node => node.ping()))
  } catch (error) {
    throw redis.status === 'ready' ? error : (lastErrors.get(redis) ?? error)
  }
}

/**
 * Waits until the client is connected, an attempt to connect fails, or `timeoutMs` have passed. Resolves to whether it
 * is connected.
 */
export async function whenReady(redis: RedisClient, timeoutMs: number): Promise<boolean> {
  if (redis.status !== 'ready')
    await once(redis, 'ready', { signal: AbortSignal.timeout(timeoutMs) }).catch(() => undefined)
  return redis.status === 'ready'
}

function sentinelOptions(given: RedisSentinels) {
  const { isTls, sentinels, name, username, password, sentinelUsername, sentinelPassword } = given
  return {
    Connector: ReconnectingSentinelConnector,
    sentinels,
    name,
    ...(username && { username }),
    ...(password && { password }),
    ...(sentinelUsername && { sentinelUsername }),
    ...(sentinelPassword && { sentinelPassword }),
    ...(isTls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
    sentinelCommandTimeout: 2_000,
    sentinelRetryStrategy: (attempt: number) => Math.min(50 * attempt, 500),
    // The sentinels announce a failover: a master that hangs or is cut off closes no connection.
    failoverDetector: true,
    sentinelReconnectStrategy: (attempt: number) => Math.min(50 * attempt, 1_000),
  }
}

/** A cluster announces its nodes without credentials, so those of the first node are used for all. */
function credentialsOf(node: string) {
  const { username, password, protocol } = new URL(node)
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
  }
}
