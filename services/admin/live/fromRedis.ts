import type { DocumentName, ReadModelRedis } from '@tally/read-models'
import { complete, fitsShard, type RedisKeys, type StoredEvent, versionOf } from '@tally/read-models'
import type { DayRead, DayRef } from './day.ts'
import { openRedisReads, type Seen } from './redisReads.ts'
import { wantedNames } from './wanted.ts'

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

/** Each further round means that the event's record has changed since the last one. */
const rounds = 3

/**
 * The event's record is kept and read again only when the hash names another version of it: a menu is most of what a
 * look would fetch and parse. The shard's hash is always read before the documents, which must then contain what its
 * watermark claims.
 */
export function openRedisDays(
  { redis, keys }: { redis: ReadModelRedis; keys: RedisKeys },
  topics: string[],
): RedisDays {
  const reads = openRedisReads({ redis, keys }, topics)

  const readEvent = async (eventId: DayRef['eventId']): Promise<StoredEvent | undefined> => {
    const text = await redis.hget(keys.event(eventId), 'event')
    if (text === null) return undefined
    const event = JSON.parse(text) as StoredEvent
    if (event.eventId !== eventId) throw new Error('Redis answered with another event')
    return event
  }

  /** Undefined if the hash holds another version of the event's record. */
  const readTexts = async (
    ref: DayRef,
    event: StoredEvent,
    { hash }: Seen,
  ): Promise<RedisDay | undefined> => {
    const { eventId } = ref
    const names = wantedNames(event, ref)
    const [revision, epoch, marked, version, ...texts] = await reads.texts(
      eventId,
      'revision',
      'epoch',
      'complete',
      'version',
      ...names,
    )
    if (typeof revision !== 'string') return 'missing'
    const of = { revision: Number(revision), epoch: Number(epoch ?? 0) }
    if (!fitsShard(hash, eventId, of)) return 'old'
    if (version !== versionOf(event)) return undefined
    if (marked !== complete && texts.includes(null)) return 'missing'
    const stored = names.flatMap((name, index): [DocumentName, string][] => {
      const text = texts[index]
      return typeof text === 'string' ? [[name, text]] : []
    })
    return { event, revision: of.revision, ...watermark(hash, of.epoch), documents: new Map(stored) }
  }

  return async (ref, last) => {
    let event = last?.event ?? (await readEvent(ref.eventId))
    for (let round = 0; event !== undefined && round < rounds; round++) {
      const seen = await reads.seen({ eventId: ref.eventId, shard: event.shard })
      const { hash, version } = seen
      if (version === undefined) return 'missing'
      if (version.revision === last?.revision)
        return fitsShard(hash, ref.eventId, version) ? { ...last, ...watermark(hash, version.epoch) } : 'old'
      const day = await readTexts(ref, event, seen)
      if (day !== undefined) return day
      event = await readEvent(ref.eventId)
    }
    return 'missing'
  }
}

const watermark = ({ asOfMs, epoch }: Seen['hash'], documents: number) => ({
  asOfMs,
  epochs: { documents, asOf: epoch },
})
