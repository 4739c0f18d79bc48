import {
  describeRedis,
  isRefusedWrite,
  openRedis,
  type RedisClient,
  reasonOf,
  type Settings,
  whenReady,
} from '@tally/platform'
import { Cluster, type Redis } from 'ioredis'
import { type DoctorFinding, fail, ok } from './check.ts'
import { endpointsOf } from './endpoints.ts'
import { type Reached, reach } from './reach.ts'

/** A master, and the fields of its INFO; none if this user may not read it. */
export type RedisNode = { address: string; info: Map<string, string> }

/** What the checks of Redis need. */
export type RedisDeps = {
  redis: RedisClient
  nodes: RedisNode[]
  /** Why a write was refused just now; empty if it was accepted. */
  refusal: string
}

const commandTimeoutMs = 2_000

/** Asks every master of Redis for its INFO, and writes a key that lives for 1 s. `onOpen` gets what closes it. */
export function reachRedis(
  settings: Settings,
  wrongSettings: boolean,
  onOpen: (close: () => Promise<void>) => void,
): Promise<Reached<RedisDeps>> {
  const { redisNodes, redisPrefix } = settings
  const address = describeRedis(redisNodes)
  const mend = 'start it, or correct REDIS_URL'
  return reach('redis', { settings, wrongSettings, address, mend }, async () => {
    const connect = () => connectTo(settings, onOpen)
    const redis = await connect()
    const nodes = await Promise.all(mastersOf(redis).map(readNode))
    // Not over the connection of the checks: a client leaves a node that refuses a write as a replica (openRedis).
    const writing = await connect()
    const write = () => writing.set(`${redisPrefix}:doctor`, '', 'PX', 1_000)
    const refusal = await write()
      .catch(async error => {
        // The client of one address has learned that it is a cluster, whose INFO this user may not read.
        if (!reasonOf(error).startsWith('MOVED ') || !(await connects(writing))) throw error
        return write()
      })
      .then(() => '', refusalIn)
    const size =
      redis instanceof Cluster
        ? `, a Redis Cluster of ${nodes.length} ${nodes.length === 1 ? 'master' : 'masters'}`
        : ''
    return { finding: judge(`${address}${size}`, nodes, refusal), deps: { redis, nodes, refusal } }
  })
}

/** A refused write belongs to another check, unless a user who may not read INFO keeps those from judging it. */
function judge(address: string, nodes: RedisNode[], refusal: string): DoctorFinding {
  const isBlind = nodes.some(({ info }) => info.size === 0)
  if (!isBlind || refusal === '') return ok(address)
  return fail(
    `${address} refuses writes: ${refusal}`,
    'free its memory or disk, or point REDIS_URL to the master',
  )
}

async function connectTo(
  settings: Settings,
  onOpen: (close: () => Promise<void>) => void,
): Promise<RedisClient> {
  let lastError: Error | undefined
  const redis = openRedis(settings.redisNodes, {
    name: 'doctor',
    commandTimeoutMs,
    onError: error => {
      lastError = error
    },
  })
  onOpen(async () => redis.disconnect())
  let unreachable: string | undefined
  redis.on('node error', (_error: Error, node: string) => {
    unreachable = node
  })
  if (await connects(redis)) return redis
  const { endpoints } = endpointsOf('redis', settings)
  const isNamed = endpoints.some(({ host, port }) => `${host}:${port}` === unreachable)
  if (unreachable === undefined || isNamed) throw lastError ?? new Error('no connection')
  throw new Error(`it announces ${unreachable}: ${reasonOf(lastError)}`, { cause: lastError })
}

/** A first attempt may meet a node that is just failing over. */
async function connects(redis: RedisClient): Promise<boolean> {
  return (await whenReady(redis, commandTimeoutMs)) || whenReady(redis, commandTimeoutMs)
}

function mastersOf(redis: RedisClient): Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis]
}

async function readNode(node: Redis): Promise<RedisNode> {
  // A cluster connects to a node when it is first used.
  if (node.status === 'wait') await node.connect()
  if (!(await whenReady(node, commandTimeoutMs))) throw new Error('no connection')
  const text = await node.info().catch(error => {
    if (reasonOf(error).startsWith('NOPERM')) return ''
    throw error
  })
  const fields = [...text.matchAll(/^(\w+):(.*)\r$/gm)].map(([, name = '', value = '']): [string, string] => [
    name,
    value,
  ])
  const { host = 'localhost', port = 6379 } = node.options
  return { address: `${host}:${port}`, info: new Map(fields) }
}

/** Throws what is not a refusal that another check explains, such as a missing right. */
function refusalIn(error: unknown): string {
  if (!isRefusedWrite(error)) throw error
  return reasonOf(error)
}
