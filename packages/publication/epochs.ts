import type { RedisKeys } from './keys.ts'
import type { ReadModelRedis } from './scripts.ts'

/**
 * Moves shards in Redis to the epoch of the database. When Postgres comes back without its last commits, Redis holds
 * watermarks that documents composed from then on do not reach. So each event's hash carries the epoch of its
 * documents, each shard's hash that of its watermarks, and an answer never combines documents with watermarks of an
 * older epoch. Entering an epoch removes the watermarks, which is safe for any process at any time
 * (docs/architecture.md, When Postgres or Redis goes back).
 */
export type Epochs = {
  /** Enters the epoch for each of these shards, unless this process has done so before. */
  enter(epoch: number, shards: Iterable<number>): Promise<void>
}

/** `onEntered` is called when shards have entered an epoch, so that their watermarks are written again. */
export function createEpochs(
  { redis, keys }: { redis: ReadModelRedis; keys: RedisKeys },
  onEntered: () => void = () => {},
): Epochs {
  const entered = new Map<number, number>()
  return {
    async enter(epoch, shards) {
      const fresh = [...shards].filter(shard => (entered.get(shard) ?? 0) < epoch)
      await Promise.all(
        fresh.map(async shard => {
          entered.set(shard, await redis.enterEpoch(keys.shard(shard), epoch))
        }),
      )
      if (fresh.length > 0) onEntered()
    },
  }
}
