import { describeRedis, isRefusedWrite, reasonOf, type Settings } from '@tally/runtime'
import { openRedis, type RedisClient, whenReady } from '@tally/storage'
import { Cluster, type Redis } from 'ioredis'
import { type Finding, fail, ok } from './check.ts'
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
  { redisNodes, redisPrefix }: Settings,
  wrongSettings: boolean,
  onOpen: (close: () => Promise<void>) => void,
): Promise<Reached<RedisDeps>> {
  const address = describeRedis(redisNodes)
  return reach('redis', { wrongSettings, address, mend: 'start it, or correct REDIS_URL' }, async () => {
    const connect = () => connectTo(redisNodes, onOpen)
    const redis = await connect()
    const nodes = await Promise.all(mastersOf(redis).map(readNode))
    await refuseOneOfMany(redis, nodes)
    // Not over the connection of the checks: a client leaves a node that refuses a write as a replica (openRedis).
    const writing = await connect()
    const refusal = await writing.set(`${redisPrefix}:doctor`, '', 'PX', 1_000).then(() => '', refusalIn)
    return { finding: judge(address, nodes, refusal), deps: { redis, nodes, refusal } }
  })
}

/** A client of one node of a cluster sees a part of the documents only, and may not notice. */
async function refuseOneOfMany(redis: RedisClient, [node]: RedisNode[]): Promise<void> {
  if (redis instanceof Cluster || node?.info.get('cluster_enabled') !== '1') return
  const size = /cluster_size:(\d+)/.exec(String(await redis.cluster('INFO')))?.[1]
  if (Number(size) > 1) throw new Error(`MOVED: ${size} masters share the slots`)
}

/** A refused write belongs to another check, unless a user who may not read INFO keeps those from judging it. */
function judge(address: string, nodes: RedisNode[], refusal: string): Finding {
  const isBlind = nodes.some(({ info }) => info.size === 0)
  if (!isBlind || refusal === '') return ok(address)
  return fail(
    `${address} refuses writes: ${refusal}`,
    'free its memory or disk, or point REDIS_URL to the master',
  )
}

async function connectTo(
  nodes: string[],
  onOpen: (close: () => Promise<void>) => void,
): Promise<RedisClient> {
  let lastError: Error | undefined
  const redis = openRedis(nodes, {
    name: 'doctor',
    commandTimeoutMs,
    onError: error => {
      lastError = error
    },
  })
  onOpen(async () => redis.disconnect())
  if (!(await connects(redis))) throw lastError ?? new Error('no connection')
  return redis
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
