import type { RedisClient } from '../redis/client.ts'
import type { RedisKeys } from '../redis/keys.ts'

/**
 * Takes shards over into the epoch of the database. When Postgres comes back without its last commits, Redis has
 * watermarks that documents composed from then on do not reach. So each event's hash carries the epoch it was composed in,
 * each shard's hash that of its watermarks, and an answer never joins documents with watermarks of an older epoch. Entering
 * an epoch drops the watermarks; that is right whoever does it, and whenever.
 */
export type Epochs = {
  /** Enters the epoch for each shard of which this process has not done so yet. */
  enter(epoch: number, shards: Iterable<number>): Promise<void>
}

export function openEpochs({ redis, keys }: { redis: RedisClient; keys: RedisKeys }): Epochs {
  const entered = new Map<number, number>()
  return {
    async enter(epoch, shards) {
      const fresh = [...shards].filter(shard => (entered.get(shard) ?? 0) < epoch)
      await Promise.all(
        fresh.map(async shard => {
          entered.set(shard, await redis.enterEpoch(keys.shard(shard), epoch))
        }),
      )
    },
  }
}
