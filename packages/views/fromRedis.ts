import type { EventId } from '@tally/contract'
import { type DocumentName, type StoredEvent, versionOf } from '@tally/figures'
import {
  complete,
  fitsShard,
  type ReadModelRedis,
  type RedisKeys,
  type ShardHash,
  type Texts,
} from '@tally/publication'
import type { Look } from './looks.ts'
import { type DocumentTexts, type Head, type Needs, type Read, remembered, type Seen } from './read.ts'
import { createTexts } from './texts.ts'

/**
 * `missing`: Redis does not have the event, or not all of it. `old`: its documents may lack what the shard's watermark
 * claims, because a key in Redis went back (a failover, a restored key) or Postgres lost commits.
 */
export type RedisRead = Read | 'missing' | 'old'
/** `cached`: the event's record as this process last read it, with the revision at which it needs fewer documents. */
export type RedisReads = (
  eventId: EventId,
  needs: Needs,
  cached: Head | undefined,
  reading?: Reading,
) => Promise<RedisRead>
/** `allowance`: more than versions is read only with it. `seen`: what the request's own batch has read already. */
export type Reading = { allowance?: Promise<unknown> | undefined; seen?: Seen | undefined }

/** No answer is remembered for it, so that every document is needed. */
const noRevision = -1
/** Each further round means that the event's record has changed since the last one, or since it was cached. */
const rounds = 4

/**
 * Reads an event from its hash in Redis. If no document is needed at the event's current revision, that costs one look,
 * and nothing if the request has `seen` it. Otherwise the documents are read, all of one revision because HMGET is
 * atomic, and the record only if the hash names another version of it: a menu is most of what would be fetched and
 * parsed. The shard's hash is always read before the event's: documents that are read later must contain what it
 * claims.
 */
export function createRedisReads({
  redis,
  keys,
  look,
}: {
  redis: ReadModelRedis
  keys: RedisKeys
  look: Look
}): RedisReads {
  const readTexts = createTexts(redis)

  /** The event's record. Without it the shard is unknown, so that the hash cannot be checked. */
  const readRecord = async (eventId: EventId): Promise<StoredEvent | undefined> => {
    const text = await redis.hget(keys.event(eventId), 'event')
    if (text === null) return undefined
    const event = JSON.parse(text) as StoredEvent
    // No event's data may go out as another's.
    if (event.eventId !== eventId) throw new Error('Redis answered with another event')
    return event
  }

  /** The documents that an event's record asks for; undefined if the hash holds another version of it by now. */
  const readDocuments = async (
    { eventId, event }: Omit<Head, 'revision'>,
    needs: Needs,
    hash: ShardHash,
  ): Promise<RedisRead | undefined> => {
    const names = needs(event, noRevision)
    const fields = ['revision', 'epoch', 'complete', 'version']
    const [revision, epoch, found, version, ...texts] = await readTexts(
      keys.event(eventId),
      ...fields,
      ...names,
    )
    if (typeof revision !== 'string') return 'missing'
    const of = { revision: Number(revision), epoch: Number(epoch ?? 0) }
    if (!fitsShard(hash, eventId, of)) return 'old'
    if (version !== versionOf(event)) return undefined
    // A missing document is empty only if the hash says so.
    if (found !== complete && texts.includes(null)) return 'missing'
    const head = { eventId, revision: of.revision, event }
    return { ...remembered(head, hash, of), documents: named(names, texts) }
  }

  return async (eventId, needs, cached, { allowance, seen: before } = {}) => {
    let event = cached?.event
    for (let round = 0; round < rounds; round++) {
      if (event === undefined) {
        await allowance
        event = await readRecord(eventId)
        if (event === undefined) return 'missing'
      }
      const isCached = event === cached?.event
      const seen = isCached && before?.shard === event.shard ? before : await look(eventId, event.shard)
      if (seen === undefined) return 'missing'
      const { hash, version } = seen
      if (!fitsShard(hash, eventId, version)) return 'old'
      const { revision } = version
      if (isCached && cached?.revision === revision && needs(event, revision).length === 0)
        return remembered(cached, hash, version)
      await allowance
      const read = await readDocuments({ eventId, event }, needs, hash)
      if (read !== undefined) return read
      event = undefined
    }
    return 'missing'
  }
}

const named = (names: DocumentName[], texts: Texts): DocumentTexts =>
  new Map(names.map((name, index) => [name, texts[index] ?? '']))
