import type { ReadModelRedis, RedisKeys } from '@tally/publication'
import { createLooks, createRedisReads, type Needs } from '@tally/views'
import { type DayRead, type DayRef, dayOf } from './day.ts'
import { wantedNames } from './wanted.ts'

/** `missing` and `old` as in RedisRead (packages/views). */
export type RedisDay = DayRead | 'missing' | 'old'
/**
 * Reads a day from the documents that the projector publishes; `last` is returned, with the watermark of now, if it is
 * still of the event's revision. Rejects if Redis does not answer.
 */
export type RedisDays = (ref: DayRef, last: DayRead | undefined) => Promise<RedisDay>

export function createRedisDays(
  { redis, keys }: { redis: ReadModelRedis; keys: RedisKeys },
  topics: string[],
): RedisDays {
  const fromRedis = createRedisReads({ redis, keys, look: createLooks({ redis, keys }, topics) })
  return async (ref, last) => {
    const cached = last && { eventId: ref.eventId, revision: last.revision, event: last.event }
    const needs: Needs = (event, revision) => (revision === last?.revision ? [] : wantedNames(event, ref))
    const read = await fromRedis(ref.eventId, needs, cached)
    if (typeof read !== 'object') return read
    const { asOfMs, epochs } = read
    return last !== undefined && read.head === cached ? { ...last, asOfMs, epochs } : dayOf(read)
  }
}
