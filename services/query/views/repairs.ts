import { isTransient } from '@tally/platform'
import { EpochError, type Epochs, type ReadModelRedis, type RedisKeys } from '@tally/publication'

/** While so many wait, others are not queued: their next request asks again. */
const mostWaiting = 100
/** One that cannot be composed is not tried again with each request. */
const failedMs = 30_000

/**
 * Publishes events or organizations that Redis lacks, in the background; each once, however many requests ask for it.
 * Whole ones may be large, so few are composed at once.
 */
export function createRepairs<Id>(
  atOnce: number,
  publish: (id: Id) => Promise<unknown>,
  onFailure: (error: unknown) => void,
): (id: Id) => void {
  const wanted = new Set<Id>()
  const running = new Set<Id>()
  const failed = new Set<Id>()

  const next = () => {
    for (const id of wanted) {
      if (running.size >= atOnce) return
      wanted.delete(id)
      running.add(id)
      publish(id)
        .catch(error => {
          onFailure(error)
          if (isTransient(error)) return
          failed.add(id)
          setTimeout(() => failed.delete(id), failedMs).unref()
        })
        .finally(() => {
          running.delete(id)
          next()
        })
    }
  }
  return id => {
    if (running.has(id) || failed.has(id) || wanted.size >= mostWaiting) return
    wanted.add(id)
    next()
  }
}

/** Only projectors move Redis to a new epoch: until then a query process publishes nothing that was composed in it. */
export function requireEpoch({ redis, keys }: { redis: ReadModelRedis; keys: RedisKeys }): Epochs {
  return {
    async enter(epoch, shards) {
      for (const shard of shards) {
        const current = Number((await redis.hget(keys.shard(shard), 'epoch')) ?? 0)
        if (current !== epoch)
          throw new EpochError(`shard ${shard} is in epoch ${current} in Redis and ${epoch} in Postgres`)
      }
    },
  }
}
