import { type Brokers, startBrokers } from './kafkaBrokers.ts'
import type { PartOptions } from './part.ts'
import { type Pooler, startPgbouncer } from './pgbouncer.ts'
import { type Pair, startPair } from './postgresPair.ts'
import { startRedisCluster } from './redisCluster.ts'
import { startRedisWithSentinel } from './redisSentinel.ts'
import type { ReplicatedRedis } from './replicatedRedis.ts'

/** Servers of several machines, all on 127.0.0.1: each of them may be lost. */
export type Cluster = {
  brokers: Brokers
  postgres: Pair
  /** In front of the primary; after a failover it must be told. */
  pooler: Pooler
  redis: ReplicatedRedis
  stop: () => Promise<void>
}

type ClusterWanted = PartOptions & {
  /** A Redis Cluster of three masters and three replicas, or a master and a replica with three sentinels. */
  redis: 'cluster' | 'sentinel'
}

type Stoppable = { stop: () => Promise<void> }

const redises = {
  cluster: (options: PartOptions) => startRedisCluster({ ...options, hasReplicas: true }),
  sentinel: startRedisWithSentinel,
}
const redisNames = { cluster: 'a Redis Cluster with replicas', sentinel: 'Redis with Sentinel' }

/** Starts three Kafka brokers (min.insync 2), Redis with replicas, Postgres with a standby, PgBouncer; or none. */
export async function startCluster({ redis: kind, ...options }: ClusterWanted): Promise<Cluster> {
  const started: Stoppable[] = []
  const stop = async () => {
    await Promise.all(started.splice(0).map(part => part.stop()))
  }
  async function start<Part extends Stoppable>(name: string, work: () => Promise<Part>): Promise<Part> {
    const began = performance.now()
    const part = await work()
    started.push(part)
    options.log?.(`${name} ready (${((performance.now() - began) / 1000).toFixed(1)} s)`)
    return part
  }
  const starts = [
    start('three Kafka brokers', () => startBrokers(options)),
    start(redisNames[kind], () => redises[kind](options)),
    start('a Postgres and its standby', () => startPair(options)).then(async postgres => {
      const pooler = await start('PgBouncer', () => startPgbouncer(postgres.primary.url, options))
      return { postgres, pooler }
    }),
  ] as const
  try {
    const [brokers, redis, { postgres, pooler }] = await Promise.all(starts)
    return { brokers, redis, postgres, pooler, stop }
  } catch (error) {
    await Promise.allSettled(starts)
    await stop()
    throw error
  }
}
