import { until } from '@tally/testkit/until'
import type { Redis } from 'ioredis'
import type { PartOptions } from './part.ts'
import { openRedisNodes } from './redisNodes.ts'
import {
  lockReplicasOut,
  onNode,
  type RedisNode,
  type ReplicatedRedis,
  replicating,
  untilReplicated,
} from './replicatedRedis.ts'

const name = 'main'

type User = { username: string; password: string }

/** `user`: who may do anything there; by default everybody. */
type SentinelOptions = PartOptions & { user?: User }

/** Starts a Redis with a replica, and three sentinels that watch it and know each other, on 127.0.0.1. */
export async function startRedisWithSentinel(options: SentinelOptions = {}): Promise<ReplicatedRedis> {
  const { user } = options
  const redises = openRedisNodes(options)
  const nodeAt = (port: number): RedisNode => ({ port, ...user })
  const nodes: RedisNode[] = []
  const sentinels: RedisNode[] = []
  try {
    const own = [...replicating, ...(user ? onlyFor(user) : [])]
    const first = await redises.start(own)
    const second = await redises.start([...own, `replicaof 127.0.0.1 ${first}`])
    nodes.push(nodeAt(first), nodeAt(second))
    await untilReplicated(nodes)
    for (let number = 0; number < 3; number++)
      sentinels.push({ port: await redises.start(watchingOf(first, user), { isSentinel: true }) })
    await Promise.all(sentinels.map(untilKnown))
  } catch (error) {
    await redises.stop()
    throw error
  }
  /** The master that each sentinel names. */
  const named = () => Promise.all(sentinels.map(sentinel => onNode(sentinel, askForMaster)))
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')
  return {
    url: `redis+sentinel://${user ? credentialsOf(user) : ''}${hosts}/${name}`,
    masters: async () => (await named()).slice(0, 1),
    stopReplication: port => lockReplicasOut(nodeAt(port)),
    async failOver(master) {
      await redises.kill(master)
      await until('the replica is the master', async () => {
        const ports = await named()
        return ports.every(port => port !== master && port === ports[0])
      })
    },
    async repair() {
      redises.startAgain()
      const [master = 0] = await named()
      // Sentinel does the same, but only after 10 s.
      for (const node of nodes.filter(({ port }) => port !== master))
        await onNode(node, redis => redis.replicaof('127.0.0.1', master))
      await untilReplicated(nodes)
    },
    stop: redises.stop,
  }
}

const onlyFor = ({ username, password }: User) => [
  'user default off',
  `user ${username} on >${password} ~* &* +@all`,
]
const credentialsOf = ({ username, password }: User) => `${username}:${encodeURIComponent(password)}@`

const watchingOf = (master: number, user: User | undefined) => [
  `sentinel monitor ${name} 127.0.0.1 ${master} 2`,
  ...(user
    ? [`sentinel auth-user ${name} ${user.username}`, `sentinel auth-pass ${name} ${user.password}`]
    : []),
  `sentinel down-after-milliseconds ${name} 1000`,
  `sentinel failover-timeout ${name} 3000`,
]

/** Any sentinel may lead the failover, and one that does not know the replica yet never learns of it later. */
async function untilKnown(sentinel: RedisNode): Promise<void> {
  const count = async (kind: 'replicas' | 'sentinels') =>
    onNode(sentinel, async redis => ((await redis.call('SENTINEL', kind, name)) as unknown[]).length)
  await until('a sentinel knows the replica and the other sentinels', async () => {
    return (await count('replicas')) === 1 && (await count('sentinels')) === 2
  })
}

async function askForMaster(sentinel: Redis): Promise<number> {
  const [, port] = (await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)) as string[]
  return Number(port)
}
