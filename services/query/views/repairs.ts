import type { EventId } from '@tally/contract'
import type { Epochs, ReadModelRedis, RedisKeys } from '@tally/publication'

/** Whole events may be large, so few are composed at once. One that finds the queue full waits for its next request. */
const atOnce = 2
const mostWaiting = 100

/** Publishes events that Redis lacks, in the background; each once, however many requests ask for it. */
export function createRepairs(
  publish: (id: EventId) => Promise<unknown>,
  onFailure: (error: unknown) => void,
): (id: EventId) => void {
  const wanted = new Set<EventId>()
  const running = new Set<EventId>()

  const next = () => {
    for (const id of wanted) {
      if (running.size >= atOnce) return
      wanted.delete(id)
      running.add(id)
      publish(id)
        .catch(onFailure)
        .finally(() => {
          running.delete(id)
          next()
        })
    }
  }
  return id => {
    if (running.has(id) || wanted.size >= mostWaiting) return
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
          throw new Error(`shard ${shard} is in epoch ${current} in Redis and ${epoch} in Postgres`)
      }
    },
  }
}
