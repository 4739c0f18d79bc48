import {
  emptyDocument,
  readPublishedAsOf,
  type RedisClient,
  type RedisKeys,
  type StoredEvent,
} from '@tally/read-models'
import { type DayRead, type DayRef, viewsOf } from './day.ts'

export type RedisDays = {
  /** The revision that an event has in Redis, and up to when it is counted; undefined where it has none. */
  head(
    eventId: DayRef['eventId'],
    shard: number,
  ): Promise<{ revision: number; asOfMs: number | null } | undefined>
  /** A whole day at one revision; undefined where Redis does not have all of it. */
  day(ref: DayRef): Promise<DayRead | undefined>
}

/** Reads days from the documents that the projector publishes. Rejects where Redis does not answer. */
export function openRedisDays(
  { redis, keys }: { redis: RedisClient; keys: RedisKeys },
  topics: string[],
): RedisDays {
  // Asked for before the figures that it is said of.
  const asOf = (shard: number) => readPublishedAsOf({ redis, keys }, topics, shard)

  return {
    async head(eventId, shard) {
      const asOfMs = await asOf(shard)
      const revision = await redis.hget(keys.event(eventId), 'revision')
      return revision === null ? undefined : { revision: Number(revision), asOfMs }
    },
    async day({ eventId, dayId }) {
      const known = await redis.hget(keys.event(eventId), 'event')
      if (known === null) return undefined
      const asOfMs = await asOf((JSON.parse(known) as StoredEvent).shard)
      const [revision, complete, record, ...texts] = await redis.hmget(
        keys.event(eventId),
        'revision',
        'complete',
        'event',
        ...viewsOf(dayId),
      )
      if (typeof revision !== 'string' || typeof record !== 'string') return undefined
      if (complete !== '1' && texts.includes(null)) return undefined
      const event = JSON.parse(record) as StoredEvent
      if (event.eventId !== eventId) throw new Error('Redis answered with another event')
      return { event, revision: Number(revision), asOfMs, ...documentsOf(texts) }
    },
  }
}

/** The documents of `viewsOf`; one that is not there is that of a day without orders. */
export function documentsOf(texts: (string | null | undefined)[]): Pick<DayRead, 'kpis' | 'hours' | 'items'> {
  const [kpis, hours, items] = texts
  return {
    kpis: kpis == null ? emptyDocument.kpis : JSON.parse(kpis),
    hours: hours == null ? emptyDocument.hours : JSON.parse(hours),
    items: items == null ? emptyDocument.items : JSON.parse(items),
  }
}
