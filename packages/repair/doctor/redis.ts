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
import { type Checks, type DoctorFinding, fail, ok, type Reach, reach, skip } from './check.ts'
import { endpointsOf } from './tls.ts'

/** A master, and the fields of its INFO; none if this user may not read it. */
type RedisNode = { address: string; info: Map<string, string> }

/** What the checks of Redis need. */
export type RedisDeps = {
  redis: RedisClient
  nodes: RedisNode[]
  /** Why a write was refused just now; empty if it was accepted. */
  refusal: string
}

const commandTimeoutMs = 2_000

/** Asks every master of Redis for its INFO, and writes a key that lives for 1 s. `onOpen` gets what closes it. */
export function reachRedis({ settings, wrongSettings, onOpen }: Reach) {
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

const oldestVersion = 7
/** Share of `maxmemory` (without one: of the machine) above which a festival evening may not fit. */
const maxUsedShare = 0.9
const mebibyte = 1024 ** 2

const field = ({ info }: RedisNode, name: string): string => info.get(name) ?? ''
const bytes = (node: RedisNode, name: string): number => Number(field(node, name)) || 0

/** The worst finding of all nodes, else what all of them say. */
function judgeEach({ nodes }: RedisDeps, judge: (node: RedisNode) => DoctorFinding): DoctorFinding {
  if (nodes.some(({ info }) => info.size === 0))
    return skip('not checked: the user of REDIS_URL may not read INFO')
  const findings = nodes.map(node => {
    const finding = judge(node)
    return nodes.length === 1 ? finding : { ...finding, found: `${node.address}: ${finding.found}` }
  })
  const first = (state: DoctorFinding['state']) => findings.find(one => one.state === state)
  return first('fail') ?? first('skip') ?? ok(findings.map(({ found }) => found).join(', '))
}

/** Whether Redis is recent enough (docs/install.md, Installation). */
const checkRedisVersion = (deps: RedisDeps): DoctorFinding =>
  judgeEach(deps, node => {
    const version = field(node, 'redis_version')
    if (version === '') return skip('not checked: INFO does not say')
    if (Number(version.split('.')[0]) >= oldestVersion) return ok(version)
    return fail(`${version} is too old`, `upgrade Redis to ${oldestVersion} or later`)
  })

/** Whether a full Redis refuses writes, as Tally expects, and does not drop documents. */
const checkEvictionPolicy = (deps: RedisDeps): DoctorFinding =>
  judgeEach(deps, node => {
    const policy = field(node, 'maxmemory_policy')
    if (policy === '') return skip('not checked: INFO does not say')
    if (policy === 'noeviction') return ok(policy)
    return fail(`a full Redis drops documents (${policy})`, 'set maxmemory-policy noeviction')
  })

/** Whether memory is left. */
const checkRedisMemory = (deps: RedisDeps): DoctorFinding =>
  judgeEach(deps, node => {
    const used = bytes(node, 'used_memory')
    const limit = bytes(node, 'maxmemory') || bytes(node, 'total_system_memory')
    const of = bytes(node, 'maxmemory') ? 'maxmemory' : "the machine's memory"
    const share = limit === 0 ? 0 : used / limit
    const found = `${Math.ceil(used / mebibyte)} MiB, ${Math.round(100 * share)} % of ${of}`
    const isFull = share > maxUsedShare || deps.refusal.includes('OOM')
    return isFull ? fail(`${found} are used`, 'raise maxmemory, or give Redis a larger machine') : ok(found)
  })

/** Whether Redis can save, if it is to: otherwise it refuses writes. Without persistence Tally loses nothing. */
const checkRedisPersistence = (deps: RedisDeps): DoctorFinding =>
  judgeEach(deps, node => {
    const failing = ['rdb_last_bgsave_status', 'aof_last_write_status', 'aof_last_bgrewrite_status'].filter(
      name => field(node, name) === 'err',
    )
    if (failing.length > 0 || deps.refusal.includes('MISCONF'))
      return fail(
        `Redis cannot save (${failing.join(', ') || deps.refusal})`,
        'free its disk and check the rights of its directory; its log says why',
      )
    return ok(field(node, 'aof_enabled') === '1' ? 'append-only file' : 'snapshots or none')
  })

/** Whether Redis is a master that accepts writes. */
const checkRedisRole = (deps: RedisDeps): DoctorFinding =>
  judgeEach(deps, node => {
    const replicas = Number(field(node, 'connected_slaves'))
    if (field(node, 'role') !== 'master' || deps.refusal.includes('READONLY'))
      return fail(
        `it is a replica of ${field(node, 'master_host')}:${field(node, 'master_port')} and refuses writes`,
        'point REDIS_URL to the master, or use redis+sentinel:// or the nodes of the cluster',
      )
    if (deps.refusal.includes('NOREPLICAS'))
      return fail(
        `it refuses writes, because too few of its replicas follow (${replicas} connected)`,
        'start the replicas, or lower min-replicas-to-write',
      )
    return ok(`master, ${replicas} ${replicas === 1 ? 'replica' : 'replicas'}`)
  })

export const redisChecks: Checks<RedisDeps> = {
  'redis version': checkRedisVersion,
  'eviction policy': checkEvictionPolicy,
  'redis memory': checkRedisMemory,
  'redis persistence': checkRedisPersistence,
  'redis role': checkRedisRole,
}
