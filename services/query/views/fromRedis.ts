import type { EventId } from '@tally/contract'
import type { DocumentName, RedisClient, RedisKeys, StoredEvent } from '@tally/read-models'
import type { RedisTurns } from '../redisTurns.ts'
import type { DocumentTexts } from './question.ts'

/** An event at one revision; `event` is undefined while orders of it have come but not its own record. */
export type Head = { eventId: EventId; revision: number; event: StoredEvent | undefined }

/** Which documents are needed of an event at a revision: those that its answer has yet to be made of. */
export type Needs = (event: StoredEvent, revision: number) => DocumentName[]

/** What was read: the event, the documents that were needed, and up to which moment everything is counted. */
export type Read = { head: Head; documents: DocumentTexts; asOfMs: number | null }

/** `missing`: Redis does not have it; Postgres may. */
export type RedisRead = Read | 'missing'
export type RedisSource = (eventId: EventId, needs: Needs, cached: Head | undefined) => Promise<RedisRead>

const noDocuments: DocumentTexts = new Map()
/** No answer is remembered under it: every document is needed. */
const noRevision = -1
/** Each further round means that the event's record has changed since the last one. */
const rounds = 3

/**
 * Reads an event from its hash in Redis. A process that has answered this at the event's current revision pays
 * one round trip of two small replies (with the rate limit, and with all requests of the same turn); else the
 * documents come in a second one, all of one revision because one HMGET is atomic. `asOf` is always read before
 * the documents it is said of.
 */
export function openRedisSource({
  redis,
  keys,
  turns,
}: {
  redis: RedisClient
  keys: RedisKeys
  turns: RedisTurns
}): RedisSource {
  /** The documents that an event's record asks for; undefined where the hash holds another version of it by now. */
  const readDocuments = async (
    { eventId, event }: { eventId: EventId; event: StoredEvent },
    needs: Needs,
    asOfMs: number | null,
  ): Promise<RedisRead | undefined> => {
    const names = needs(event, noRevision)
    const [revision, complete, version, ...texts] = await redis.hmget(
      keys.event(eventId),
      'revision',
      'complete',
      'version',
      ...names,
    )
    if (typeof revision !== 'string') return 'missing'
    if (version !== String(event.version)) return undefined
    const documents = collect(names, texts, complete === '1')
    return documents === undefined
      ? 'missing'
      : { head: { eventId, revision: Number(revision), event }, documents, asOfMs }
  }

  /** The event's record; where there is none yet, what can be said already. */
  const readEvent = async (eventId: EventId): Promise<StoredEvent | RedisRead> => {
    const [revision, complete, event] = await redis.hmget(
      keys.event(eventId),
      'revision',
      'complete',
      'event',
    )
    if (typeof revision !== 'string') return 'missing'
    if (typeof event === 'string') return checked(JSON.parse(event) as StoredEvent, eventId)
    const head = { eventId, revision: Number(revision), event: undefined }
    return complete === '1' ? { head, documents: noDocuments, asOfMs: null } : 'missing'
  }

  /** The record, its moment, its documents; from the start again where the record has changed meanwhile. */
  const readAnew = async (eventId: EventId, needs: Needs): Promise<RedisRead> => {
    for (let round = 0; round < rounds; round++) {
      const event = await readEvent(eventId)
      if (event === 'missing' || 'head' in event) return event
      const asOfMs = await turns.asOf(event.shard)
      const read = await readDocuments({ eventId, event }, needs, asOfMs)
      if (read !== undefined) return read
    }
    return 'missing'
  }

  return async (eventId, needs, cached) => {
    if (cached?.event === undefined) return readAnew(eventId, needs)
    const { event } = cached
    const [asOfMs, revision] = await Promise.all([
      turns.asOf(event.shard),
      turns.revision(eventId, event.shard),
    ])
    if (revision === undefined) return 'missing'
    if (revision === cached.revision && needs(event, revision).length === 0) {
      return { head: cached, documents: noDocuments, asOfMs }
    }
    return (await readDocuments({ eventId, event }, needs, asOfMs)) ?? readAnew(eventId, needs)
  }
}

/** A reply is checked to be the one that was asked for: no event's bytes ever go out under another's name. */
function checked(event: StoredEvent, eventId: EventId): StoredEvent {
  if (event.eventId !== eventId) throw new Error('Redis answered with another event')
  return event
}

/** Undefined where a document is not there and the hash does not say that what is not there is empty. */
function collect(
  names: DocumentName[],
  texts: (string | null)[],
  complete: boolean,
): DocumentTexts | undefined {
  const documents: DocumentTexts = new Map()
  for (const [index, name] of names.entries()) {
    const text = texts[index] ?? null
    if (text === null && !complete) return undefined
    documents.set(name, text ?? '')
  }
  return documents
}
