import { inside, type KafkaConnection } from '@tally/kafka'
import { until } from '@tally/testkit/until'
import { type Cluster, startCluster } from '../../cluster/index.ts'
import { type Opening, openSystem, type System, type SystemWanted } from './system.ts'

/** Servers of several machines, and Tally's processes on them. */
export type ClusterSystem = System & {
  cluster: Cluster
  /** Brings back each machine that was lost; returns when all replicas follow. */
  repair: () => Promise<void>
}

/** Starts everything. If something cannot be started, the rest is stopped again. */
export async function startClusterSystem(
  redis: 'cluster' | 'sentinel',
  wanted: SystemWanted,
): Promise<ClusterSystem> {
  const system = await openSystem(wanted, opening => open(redis, opening))
  return Object.assign(system, { repair: () => repair(system) })
}

async function open(redis: 'cluster' | 'sentinel', { folder, log, onDeath, onRelease }: Opening) {
  const cluster = await startCluster({ redis, logFolder: folder, log, onDeath })
  onRelease(cluster.stop)
  const addresses = { kafkaBrokers: cluster.brokers.urls, redisUrl: cluster.redis.url }
  return {
    servers: { cluster },
    direct: { ...addresses, databaseUrl: bothHosts(cluster) },
    reached: { ...addresses, databaseUrl: cluster.pooler.url },
  }
}

/** Whichever host is the primary, without PgBouncer. */
function bothHosts({ postgres: { primary, standby } }: Cluster): string {
  const host = new URL(standby.url).host
  return `${primary.url.replace('/tally', `,${host}/tally`)}?target_session_attrs=read-write`
}

async function repair({ cluster, kafka }: System & { cluster: Cluster }): Promise<void> {
  const { brokers, redis, postgres } = cluster
  const back = brokers.nodes.map(async node => {
    await node.kill('SIGCONT')
    await node.start()
  })
  await Promise.all([...back, redis.repair(), postgres.repair()])
  await until('each partition has three replicas in sync', () => isInSync(kafka).catch(() => false))
}

const isInSync = (kafka: KafkaConnection): Promise<boolean> =>
  inside(kafka).admin.use(async admin => {
    const { topics } = await admin.fetchTopicMetadata()
    return topics.every(({ partitions }) => partitions.every(({ isr }) => isr.length === 3))
  })
