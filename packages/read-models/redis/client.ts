import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type RedisSentinels, parseSentinels } from '@tally/runtime'
import { Cluster, Redis } from 'ioredis'

type Script<Arguments extends unknown[], Reply> = (key: string, ...args: Arguments) => Promise<Reply>

/** The scripts of redis/scripts, one a file; the number in a file's name is that of its keys. */
export type Scripts = {
  /** See scripts/publish.1.lua. */
  publish: Script<(string | number | string[])[], 'stored' | 'older' | 'gap'>
  /** See scripts/raiseAsOf.1.lua. */
  raiseAsOf: Script<(string | number)[], number>
  /** See scripts/enterEpoch.1.lua. */
  enterEpoch: Script<[epoch: number], number>
  /** See scripts/advance.1.lua. */
  advance: Script<(string | number)[], number>
  /** See scripts/takeRequests.2.lua. */
  takeRequests: (
    window: string,
    organization: string,
    ...args: (string | number)[]
  ) => Promise<[number, number, number, number] | null>
  /** See scripts/beginCopies.2.lua. */
  beginCopies: (roundKey: string, copiedRoundKey: string) => Promise<number>
  /** See scripts/putApiKey.3.lua. */
  putApiKey: (
    key: string,
    roundKey: string,
    copiedRoundKey: string,
    copy: string,
    isRevoked: '0' | '1',
    lifeSeconds: number,
    round: number,
  ) => Promise<'stored' | 'older'>
  /** See scripts/markCopied.3.lua. */
  markCopied: (
    epochKey: string,
    copiedKey: string,
    copiedRoundKey: string,
    epoch: string,
    nowMs: number,
    lifeSeconds: number,
    round: number,
  ) => Promise<'marked' | 'lost'>
}
export type RedisClient = (Redis | Cluster) & Scripts

const scripts = {
  publish: 1,
  raiseAsOf: 1,
  enterEpoch: 1,
  advance: 1,
  takeRequests: 2,
  beginCopies: 2,
  putApiKey: 3,
  markCopied: 3,
}

/** Scripts that write a shard's hash, each in an epoch: scripts/epoch.lua is prepended to them. */
const ofShards = new Set(['raiseAsOf', 'enterEpoch', 'advance'])

export type RedisOptions = { name: string; commandTimeoutMs: number; onError: (error: Error) => void }

/**
 * Connects to one Redis, to the master that sentinels name, or with several nodes to a Redis Cluster. Commands fail
 * at once while there is no connection (no queue that grows) and after `commandTimeoutMs`; the connection comes back by
 * itself. Close it with `disconnect()`.
 */
export function openRedis(nodes: string[], { name, commandTimeoutMs, onError }: RedisOptions): RedisClient {
  const options = {
    connectionName: `tally-${name}`,
    commandTimeout: commandTimeoutMs,
    connectTimeout: 2_000,
    // A silent connection is replaced: a host that vanished closes no connection.
    socketTimeout: Math.max(2_000, 2 * commandTimeoutMs),
    // Reconnects when a former master has become a replica.
    reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt: number) => Math.min(50 * attempt, 500),
    keepAlive: 10_000,
  }
  const [first] = nodes
  if (first === undefined) throw new Error('no Redis node is given')
  const sentinels = parseSentinels(first)
  const client = sentinels
    ? new Redis({ ...options, ...sentinelOptions(sentinels) })
    : nodes.length === 1
      ? new Redis(first, options)
      : new Cluster(nodes, {
          redisOptions: { ...options, ...credentialsOf(first) },
          enableOfflineQueue: false,
          enableAutoPipelining: true,
          clusterRetryStrategy: attempt => Math.min(50 * attempt, 500),
        })
  client.on('error', onError)
  const epoch = readFileSync(scriptUrl('epoch'), 'utf8')
  // All of them now: a pipeline knows only the scripts that were defined before it was opened. One that is called on an older
  // pipeline hands the replies to the wrong callers, and ends the process (redis/ioredis#1931, in ioredis 6.0.0).
  for (const [script, numberOfKeys] of Object.entries(scripts)) {
    const prelude = ofShards.has(script) ? epoch : ''
    const lua = prelude + readFileSync(scriptUrl(`${script}.${numberOfKeys}`), 'utf8')
    client.defineCommand(script, { numberOfKeys, lua })
  }
  return client as RedisClient
}

/** Resolves when the client is connected, or after `patienceMs`: what needs Redis goes another way meanwhile. */
export async function whenReady(redis: RedisClient, patienceMs: number): Promise<void> {
  if (redis.status === 'ready') return
  await once(redis, 'ready', { signal: AbortSignal.timeout(patienceMs) }).catch(() => undefined)
}

function sentinelOptions(given: RedisSentinels) {
  const { isTls, sentinels, name, username, password, sentinelUsername, sentinelPassword } = given
  return {
    sentinels,
    name,
    ...(username && { username }),
    ...(password && { password }),
    ...(sentinelUsername && { sentinelUsername }),
    ...(sentinelPassword && { sentinelPassword }),
    ...(isTls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
    sentinelCommandTimeout: 2_000,
    sentinelRetryStrategy: (attempt: number) => Math.min(50 * attempt, 500),
    // Learns of a failover from the sentinels: a master that hangs or was cut off closes no connection.
    failoverDetector: true,
    sentinelReconnectStrategy: (attempt: number) => Math.min(50 * attempt, 1_000),
  }
}

/** A cluster tells its other nodes' addresses without credentials: those of the first node hold for all. */
function credentialsOf(node: string) {
  const { username, password, protocol } = new URL(node)
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
  }
}

const scriptUrl = (name: string) => new URL(`scripts/${name}.lua`, import.meta.url)
