import { setTimeout as sleep } from 'node:timers/promises'
import type { EventId } from '@tally/contract'
import type { ReadModelRedis, RedisKeys } from '@tally/publication'
import {
  createRedisReads,
  type KnownRead,
  type Look,
  type Needs,
  type Read,
  type Reading,
  type RedisRead,
} from '@tally/views'
import type { Breaker } from '../redis/breaker.ts'
import type { RequestBatches } from '../redis/requestBatches.ts'
import type { Memory } from './memory.ts'

/** How long Redis is asked again if Postgres does not answer; a tick of the projector takes 0.4 s. */
const lastReadMs = 800
const lastRetryMs = 100

export type HotReadsDeps = {
  redis: ReadModelRedis
  keys: RedisKeys
  batches: RequestBatches
  breaker: Breaker
}

/** Undefined if Redis fails or is too slow. */
type Hot = RedisRead | undefined

export type HotReads = {
  /** Reads an event; once more if another request has seen something newer meanwhile. */
  read(eventId: EventId, needs: Needs, reading: Reading): Promise<Hot>
  /** Whether a read is as new as it should be, so that it can be answered without Postgres. */
  isCurrent(read: KnownRead): boolean
  /** Whether a read has a watermark, so that it can be answered if Postgres is down. */
  isDated(hot: Hot): hot is Read
  /**
   * The read to answer from if only Redis can: `hot`, or what `again` finds within 800 ms. After a restart of Postgres
   * the projector publishes new watermarks within a tick, which is worth a short wait.
   */
  last(hot: Hot, again: () => Promise<Hot>): Promise<Hot>
}

/** Reads events from Redis, and compares them with what this process answered before. */
export function createHotReads({ redis, keys, batches, breaker }: HotReadsDeps, memory: Memory): HotReads {
  const look: Look = async (eventId, shard) => {
    const [hash, version] = await Promise.all([batches.shard(shard, eventId), batches.event(eventId, shard)])
    return version && { shard, hash, version }
  }
  const fromRedis = createRedisReads({ redis, keys, look })
  const isDated = (hot: Hot): hot is Read => isRead(hot) && memory.watermark(hot) !== null

  return {
    async read(eventId, needs, reading) {
      const { allowance } = reading
      for (let attempt = 0; ; attempt++) {
        const sinceMs = performance.now()
        const hot = await breaker.attempt(
          () => fromRedis(eventId, needs, memory.head(eventId), attempt === 0 ? reading : { allowance }),
          sinceMs,
        )
        await allowance
        if (attempt > 0 || !isRead(hot) || !memory.isAheadOf(hot)) return hot
      }
    },
    isCurrent: read => memory.isUpdated(read) && !memory.isAheadOf(read),
    isDated,
    async last(hot, again) {
      const isFinal = (read: Hot) => isDated(read) || read === 'missing'
      const endMs = performance.now() + lastReadMs
      let last = isFinal(hot) ? hot : await again()
      while (!isFinal(last) && performance.now() < endMs) {
        await sleep(lastRetryMs)
        last = await again()
      }
      return last
    },
  }
}

export const isRead = (hot: Hot): hot is Read => typeof hot === 'object'
