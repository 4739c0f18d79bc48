import type { ReadModelRedis } from '@tally/read-models'
import {
  complete,
  type EventVersion,
  emptyDocument,
  fitsShard,
  type RedisKeys,
  readShardHash,
  type StoredEvent,
} from '@tally/read-models'
import { type DayRead, type DayRef, viewsOf } from './day.ts'

/**
 * `missing`: Redis does not have the event, or not all of it. `old`: its documents may lack what the shard's watermark
 * claims (fitsShard).
 */
export type RedisDay = DayRead | 'missing' | 'old'
/**
 * Reads a day from the documents that the projector publishes; `last` is returned if it is still of the event's
 * revision. Rejects if Redis does not answer.
 */
export type RedisDays = (ref: DayRef, last: DayRead | undefined) => Promise<RedisDay>

export function openRedisDays(
  { redis, keys }: { redis: ReadModelRedis; keys: RedisKeys },
  topics: string[],
): RedisDays {
  const readEvent = async (eventId: DayRef['eventId']): Promise<StoredEvent | undefined> => {
    const text = await redis.hget(keys.event(eventId), 'event')
    return text === null ? undefined : (JSON.parse(text) as StoredEvent)
  }

  return async ({ eventId, dayId }, last) => {
    const known = last?.event ?? (await readEvent(eventId))
    if (known === undefined) return 'missing'
    // Read before the documents, which must then contain what its watermark claims.
    const shard = await readShardHash({ redis, keys }, topics, known.shard, [eventId])
    const dated = (epoch: number) => ({
      asOfMs: shard.asOfMs,
      epochs: { documents: epoch, asOf: shard.epoch },
    })

    if (last !== undefined) {
      const { revision, epoch } = markOf(await redis.hmget(keys.event(eventId), 'revision', 'epoch'))
      if (revision === last.revision)
        return fitsShard(shard, eventId, { revision, epoch }) ? { ...last, ...dated(epoch) } : 'old'
    }
    const [revisionText, epochText, found, record, ...texts] = await redis.readDocuments(
      keys.event(eventId),
      'revision',
      'epoch',
      'complete',
      'event',
      ...viewsOf(dayId),
    )
    if (typeof revisionText !== 'string' || typeof record !== 'string') return 'missing'
    if (found !== complete && texts.includes(null)) return 'missing'
    const { revision, epoch } = markOf([revisionText, epochText])
    if (!fitsShard(shard, eventId, { revision, epoch })) return 'old'
    const event = JSON.parse(record) as StoredEvent
    if (event.eventId !== eventId) throw new Error('Redis answered with another event')
    return { event, revision, ...dated(epoch), ...documentsOf(texts) }
  }
}

const markOf = ([revision, epoch]: (string | null | undefined)[]): EventVersion => ({
  revision: Number(revision ?? 0),
  epoch: Number(epoch ?? 0),
})

/** The documents of `viewsOf`; a missing one is that of a day without orders. */
export function documentsOf(texts: (string | null | undefined)[]): Pick<DayRead, 'kpis' | 'hours' | 'items'> {
  const [kpis, hours, items] = texts
  return {
    kpis: kpis == null ? emptyDocument.kpis : JSON.parse(kpis),
    hours: hours == null ? emptyDocument.hours : JSON.parse(hours),
    items: items == null ? emptyDocument.items : JSON.parse(items),
  }
}
