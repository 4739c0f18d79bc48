import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '@tally/testkit/until'
import { Redis } from 'ioredis'

/** Masters with a replica each; a master that dies is replaced. */
export type ReplicatedRedis = {
  /** What REDIS_URL takes. */
  url: string
  /** The ports of the masters now. */
  masters: () => Promise<number[]>
  /** Ends the replication from a master: what it stores from now on dies with it. */
  stopReplication: (master: number) => Promise<void>
  /** Kills a master; returns when its replica has taken over. */
  failOver: (master: number) => Promise<void>
  /** Starts again what was killed; returns when each master has a replica that follows it. */
  repair: () => Promise<void>
  stop: () => Promise<void>
}

/** A node on 127.0.0.1, its user if not everybody may do all, and the certificate authority if it speaks TLS. */
export type RedisNode = { port: number; username?: string; password?: string; ca?: Buffer | undefined }

/** The user as which replicas read from their master; a master that locks it has no replica. */
const replicator = 'replicator'
export const replicating = [
  `user ${replicator} on >${replicator} +psync +replconf +ping`,
  `masteruser ${replicator}`,
  `masterauth ${replicator}`,
  'repl-diskless-sync-delay 0',
]

/** Locks out the replicas of a master that runs with `replicating`, until it is started again. */
export async function lockReplicasOut(master: RedisNode): Promise<void> {
  await onNode(master, async redis => {
    await redis.call('ACL', 'SETUSER', replicator, 'off')
    await redis.call('CLIENT', 'KILL', 'USER', replicator)
  })
}

/** Waits until each of these nodes is a replica that follows its master, or a master that is followed. */
export async function untilReplicated(nodes: RedisNode[]): Promise<void> {
  const isReplicated = async (node: RedisNode) => {
    const info = String(await onNode(node, redis => redis.info('replication')))
    const isFollowed = info.includes('role:master') && info.includes('state=online')
    return isFollowed || info.includes('master_link_status:up')
  }
  await until('each Redis is followed, or follows', async () =>
    (await Promise.all(nodes.map(isReplicated))).every(Boolean),
  )
}

/** Does something on a node, again until it succeeds; throws the last error after `timeoutMs`. */
export async function onNode<Result>(
  { port, username, password, ca }: RedisNode,
  work: (redis: Redis) => Promise<Result>,
  timeoutMs = 60_000,
): Promise<Result> {
  for (const until = Date.now() + timeoutMs; ; await sleep(50)) {
    const redis = new Redis(port, '127.0.0.1', {
      // The certificate may be for any name: this is the loopback interface.
      ...(ca && { tls: { ca, checkServerIdentity: () => undefined } }),
      ...(username && { username }),
      ...(password && { password }),
      lazyConnect: true,
      retryStrategy: () => null,
      enableReadyCheck: false,
      commandTimeout: 5_000,
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
