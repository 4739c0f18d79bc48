import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { freePort } from '../servers/ports.ts'
import { end, endOfLog, launch, type Running } from '../servers/process.ts'

const slots = 16_384
const readyTimeoutMs = 60_000

/** The nodes' addresses as REDIS_URL takes them, comma-separated. */
export type TestCluster = { redisUrl: string; stop: () => Promise<void> }

/**
 * Starts a Redis Cluster of three nodes without replicas on 127.0.0.1, which keeps nothing; returns once each node says
 * that all slots are served. The bus ports are free ones too, so that several clusters can run side by side.
 */
export async function startTestCluster(dataFolder: string): Promise<TestCluster> {
  const nodes: (Node & { running: Running })[] = []
  const stop = async () => {
    await Promise.all(nodes.map(({ running }) => end(running, 'SIGTERM')))
  }
  try {
    for (let number = 1; number <= 3; number++) {
      const node = {
        port: await freePort(),
        busPort: await freePort(),
        folder: join(dataFolder, `redis-${number}`),
      }
      nodes.push({ ...node, running: startNode(node) })
    }
    await Promise.all(nodes.map(node => on(node, redis => redis.ping())))
    await Promise.all(
      nodes.map((node, index) =>
        on(node, redis => redis.call('CLUSTER', 'ADDSLOTSRANGE', ...slotsOf(index, nodes.length))),
      ),
    )
    const [first, ...others] = nodes
    for (const { port, busPort } of others)
      await on(first as Node, redis => redis.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort))
    await Promise.all(nodes.map(node => on(node, requireWhole)))
    return { redisUrl: nodes.map(({ port }) => `redis://127.0.0.1:${port}`).join(','), stop }
  } catch (error) {
    const logs = nodes.map(({ folder }) => endOfLog(join(folder, 'log'), 5)).join('\n')
    await stop()
    throw new Error(`the Redis Cluster did not start: ${error}\n${logs}`)
  }
}

type Node = { port: number; busPort: number; folder: string }

function startNode({ port, busPort, folder }: Node): Running {
  mkdirSync(folder, { recursive: true })
  const where = [
    '--bind',
    '127.0.0.1',
    '--port',
    String(port),
    '--cluster-port',
    String(busPort),
    '--dir',
    folder,
  ]
  const how = [
    '--cluster-enabled',
    'yes',
    '--cluster-node-timeout',
    '5000',
    '--save',
    '',
    '--appendonly',
    'no',
  ]
  return launch({
    command: 'redis-server',
    args: [...where, ...how],
    logFile: join(folder, 'log'),
    stopSignal: 'SIGTERM',
  })
}

/** First and last slot of the node at `index`. */
function slotsOf(index: number, nodes: number): [number, number] {
  const from = (at: number) => Math.floor((at * slots) / nodes)
  return [from(index), from(index + 1) - 1]
}

async function requireWhole(redis: Redis): Promise<void> {
  const info = String(await redis.call('CLUSTER', 'INFO'))
  if (!info.includes('cluster_state:ok') || !info.includes('cluster_known_nodes:3')) throw new Error(info)
}

/** Does something on one node, again until it succeeds. */
async function on<Result>({ port }: Node, work: (redis: Redis) => Promise<Result>): Promise<Result> {
  for (const until = Date.now() + readyTimeoutMs; ; await sleep(100)) {
    const redis = new Redis(port, '127.0.0.1', {
      lazyConnect: true,
      retryStrategy: () => null,
      enableReadyCheck: false,
    })
    redis.on('error', () => {})
    try {
      await redis.connect()
      return await work(redis)
    } catch (error) {
      if (Date.now() > until) throw error
    } finally {
      redis.disconnect()
    }
  }
}
