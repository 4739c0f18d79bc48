import { type DoctorFinding, fail, ok, skip } from './check.ts'
import type { RedisDeps, RedisNode } from './redis.ts'

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
export const checkRedisVersion = (deps: RedisDeps): DoctorFinding =>
  judgeEach(deps, node => {
    const version = field(node, 'redis_version')
    if (version === '') return skip('not checked: INFO does not say')
    if (Number(version.split('.')[0]) >= oldestVersion) return ok(version)
    return fail(`${version} is too old`, `upgrade Redis to ${oldestVersion} or later`)
  })

/** Whether a full Redis refuses writes, as Tally expects, and does not drop documents. */
export const checkEvictionPolicy = (deps: RedisDeps): DoctorFinding =>
  judgeEach(deps, node => {
    const policy = field(node, 'maxmemory_policy')
    if (policy === '') return skip('not checked: INFO does not say')
    if (policy === 'noeviction') return ok(policy)
    return fail(`a full Redis drops documents (${policy})`, 'set maxmemory-policy noeviction')
  })

/** Whether memory is left. */
export const checkRedisMemory = (deps: RedisDeps): DoctorFinding =>
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
export const checkRedisPersistence = (deps: RedisDeps): DoctorFinding =>
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
export const checkRedisRole = (deps: RedisDeps): DoctorFinding =>
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
