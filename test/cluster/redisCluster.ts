import { readFileSync } from 'node:fs'
import { until } from '@tally/testkit/until'
import type { Redis } from 'ioredis'
import { freePort } from '#infra/servers/ports.ts'
import type { PartOptions } from './part.ts'
import { openRedisNodes, type Tls } from './redisNodes.ts'
import {
  lockReplicasOut,
  onNode,
  type RedisNode,
  type ReplicatedRedis,
  replicating,
  untilReplicated,
} from './replicatedRedis.ts'

const slots = 16_384
const mastersWanted = 3

type Node = RedisNode & { busPort: number }

export type RedisClusterOptions = PartOptions & {
  hasReplicas: boolean
  /** TLS only, between the nodes too. */
  tls?: Tls
  /** The name that the nodes announce in place of their address; `unknown-endpoint`: they announce neither. */
  announces?: string
}

/** Starts a Redis Cluster of three masters that keeps nothing; returns once all nodes say that all slots are served. */
export async function startRedisCluster({
  hasReplicas,
  tls,
  announces,
  ...options
}: RedisClusterOptions): Promise<ReplicatedRedis> {
  const redises = openRedisNodes(options)
  const nodes: Node[] = []
  const ca = tls && readFileSync(tls.certificate)
  try {
    for (let number = 0; number < mastersWanted * (hasReplicas ? 2 : 1); number++) {
      const busPort = await freePort()
      const lines = [...configOf(busPort), ...(announces ? nameLines(announces) : [])]
      nodes.push({ port: await redises.start(lines, { tls }), busPort, ca })
    }
    await connect(nodes)
  } catch (error) {
    await redises.stop()
    throw error
  }
  const masters = async () => (await clusterNodes(nodes)).filter(isServing).map(({ port }) => port)
  return {
    url: nodes.map(({ port }) => `${tls ? 'rediss' : 'redis'}://127.0.0.1:${port}`).join(','),
    masters,
    stopReplication: port => lockReplicasOut({ port, ca }),
    async failOver(master) {
      await redises.kill(master)
      await until('a replica has taken over', async () => {
        const ports = await masters()
        return ports.length === mastersWanted && !ports.includes(master)
      })
    },
    async repair() {
      redises.startAgain()
      await until('three masters serve all slots', async () => (await masters()).length === mastersWanted)
      await untilReplicated(nodes)
    },
    stop: redises.stop,
  }
}

const configOf = (busPort: number): string[] => [
  'cluster-enabled yes',
  `cluster-port ${busPort}`,
  `cluster-config-file nodes-${busPort}.conf`,
  'cluster-node-timeout 3000',
  // A replica takes over however long ago it heard from its master.
  'cluster-replica-validity-factor 0',
  ...replicating,
]

const nameLines = (name: string): string[] =>
  name === 'unknown-endpoint'
    ? [`cluster-preferred-endpoint-type ${name}`]
    : [`cluster-announce-hostname ${name}`, 'cluster-preferred-endpoint-type hostname']

/** Gives the first nodes the slots, and each of the others one of those to follow. */
async function connect(nodes: Node[]): Promise<void> {
  const [first, ...others] = nodes as [Node, ...Node[]]
  const masters = nodes.slice(0, mastersWanted)
  for (const [index, node] of masters.entries())
    await onNode(node, redis => redis.call('CLUSTER', 'ADDSLOTSRANGE', ...slotsOf(index)))
  for (const { port, busPort } of others)
    await onNode(first, redis => redis.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort))
  const isWhole = (redis: Redis) => requireWhole(redis, nodes.length)
  await Promise.all(nodes.map(node => onNode(node, isWhole)))
  const replicas = nodes.slice(mastersWanted)
  for (const [index, replica] of replicas.entries()) {
    const id = await onNode(masters[index] as Node, redis => redis.call('CLUSTER', 'MYID'))
    await onNode(replica, redis => redis.call('CLUSTER', 'REPLICATE', String(id)))
  }
  if (replicas.length > 0) await untilReplicated(nodes)
}

/** First and last slot of the master at `index`. */
function slotsOf(index: number): [number, number] {
  const from = (at: number) => Math.floor((at * slots) / mastersWanted)
  return [from(index), from(index + 1) - 1]
}

async function requireWhole(redis: Redis, count: number): Promise<void> {
  const info = String(await redis.call('CLUSTER', 'INFO'))
  if (!info.includes('cluster_state:ok') || !info.includes(`cluster_known_nodes:${count}\r`))
    throw new Error(info)
}

type Known = { port: number; flags: string; slots: string }

/** What the first node that answers knows of all nodes; none if none answers. */
async function clusterNodes(nodes: Node[]): Promise<Known[]> {
  const ask = (node: Node) =>
    onNode(
      node,
      async redis => {
        await requireWhole(redis, nodes.length)
        return String(await redis.call('CLUSTER', 'NODES'))
      },
      0,
    )
  const text = await Promise.any(nodes.map(ask)).catch(() => '')
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      const [, address = '', flags = '', , , , , , ...slots] = line.split(' ')
      return { port: Number(/:(\d+)@/.exec(address)?.[1]), flags, slots: slots.join(' ') }
    })
}

const isServing = ({ flags, slots }: Known) =>
  flags.includes('master') && !flags.includes('fail') && slots !== ''
