import type { AccessKeys, AccessRedis } from '@tally/access'
import { type RedisKeys, readShardHash } from '@tally/read-models'
import type { RateLimits } from '@tally/runtime'
import { Cluster } from 'ioredis'
import { type Batch, settle } from './batch.ts'
import type { Breaker } from './breaker.ts'

/** The length of a window of the rate limit. */
export const windowMs = 60_000

export type AskDeps = {
  redis: AccessRedis
  keys: RedisKeys & AccessKeys
  topics: string[]
  breaker: Pick<Breaker, 'noteWrite'>
}

/** Returns the function that sends the commands of one batch; its promise resolves when all are answered. */
export function openAskBatch(
  { redis, keys, topics, breaker }: AskDeps,
  limits: RateLimits,
): (batch: Batch) => Promise<unknown> {
  const isCluster = redis instanceof Cluster
  const limitPairs = Object.entries(limits).flat()

  const takeRequests = ({ takers }: Batch) =>
    [...takers].map(async ([id, group]) => {
      try {
        const taken = await redis.takeRequests(
          keys.window(id),
          keys.organization(id),
          windowMs,
          group.count,
          ...limitPairs,
        )
        // A batch that is refused as a whole makes no write.
        if (taken !== null && taken[0] > 0) breaker.noteWrite()
        group.resolve(taken)
      } catch (error) {
        breaker.noteWrite(error)
        group.resolve(undefined)
      }
    })

  const readShards = ({ shards }: Batch) =>
    [...shards].map(([shard, waiter]) =>
      settle(waiter, () => readShardHash({ redis, keys }, topics, shard, [...waiter.events])),
    )

  const readEvents = ({ events, shards }: Batch) =>
    [...events].map(([id, waiter]) =>
      settle(waiter, async () => {
        // One connection answers in the order asked; the nodes of a cluster do not.
        if (isCluster) await shards.get(waiter.shard)?.promise.catch(() => undefined)
        const [revision, epoch] = await redis.hmget(keys.event(id), 'revision', 'epoch')
        return typeof revision === 'string'
          ? { revision: Number(revision), epoch: Number(epoch ?? 0) }
          : undefined
      }),
    )

  return batch => Promise.all([...takeRequests(batch), ...readShards(batch), ...readEvents(batch)])
}
