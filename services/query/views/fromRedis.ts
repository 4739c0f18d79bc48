import type { EventId } from '@tally/contract'
import type { ReadModelRedis } from '@tally/read-models'
import {
  complete,
  type DocumentName,
  type EventVersion,
  fitsShard,
  type RedisKeys,
  type ShardHash,
  type StoredEvent,
  versionOf,
} from '@tally/read-models'
import type { Permit } from '../permit.ts'
import { openDocumentReads } from '../redis/documentReads.ts'
import type { RequestBatches } from '../redis/requestBatches.ts'
import type { DocumentTexts } from './question.ts'

/** An event at one revision. */
export type Head = { eventId: EventId; revision: number; event: StoredEvent }

/** What is enough of it to tell whether remembered answers still hold. */
export type KnownHead = Omit<Head, 'event'> & { event: { shard: number; isScattered?: true | undefined } }

/** Which documents of an event at a revision are still needed to compose the answer. */
export type Needs = (event: StoredEvent, revision: number) => DocumentName[]

/**
 * The result of a read: the event, the needed documents, and the watermark up to which everything is counted in them.
 */
export type Read = {
  head: Head
  documents: DocumentTexts
  asOfMs: number | null
  /** The epochs of the documents and of the watermark. */
  epochs: { documents: number; asOf: number }
}

/** A read without the event's record and documents. */
export type KnownRead = Pick<Read, 'asOfMs' | 'epochs'> & { head: KnownHead }

/**
 * `missing`: Redis does not have the event, or not all of it. `old`: its documents may lack what the shard's watermark
 * claims, because a key in Redis went back (a failover, a restored key) or Postgres lost commits.
 */
export type RedisRead = Read | 'missing' | 'old'
export type RedisSource = (
  eventId: EventId,
  needs: Needs,
  cached: Head | undefined,
  { permit, seen }: Reading,
) => Promise<RedisRead>
/** `seen`: what the request's own batch has read already. */
export type Reading = { permit: Permit; seen?: Seen | undefined }
/** The hash of a shard and, read after it, the version of one of its events. */
export type Seen = { shard: number; hash: ShardHash; version: EventVersion }

const noDocuments: DocumentTexts = new Map()
/** No answer is remembered for it, so that every document is needed. */
const noRevision = -1
/** Each further round means that the event's record has changed since the last one. */
const rounds = 3

/**
 * Reads an event from its hash in Redis. If the process has answered this question at the event's current revision,
 * that costs one round trip of two small replies, shared with the rate limit and all requests of the batch, and none
 * for what the request has `seen`. Otherwise a second one reads the documents, all of one revision because HMGET is
 * atomic. The shard's hash is always read before the event's: documents that are read later must contain what it
 * claims.
 */
export function openRedisSource({
  redis,
  keys,
  batches,
}: {
  redis: ReadModelRedis
  keys: RedisKeys
  batches: RequestBatches
}): RedisSource {
  const readTogether = openDocumentReads(redis)
  /** The documents that an event's record asks for; undefined if the hash holds another version of it by now. */
  const readDocuments = async (
    { eventId, event }: { eventId: EventId; event: StoredEvent },
    needs: Needs,
    shard: ShardHash,
  ): Promise<RedisRead | undefined> => {
    const names = needs(event, noRevision)
    const [revision, epoch, found, version, ...texts] = await readTogether(
      keys.event(eventId),
      'revision',
      'epoch',
      'complete',
      'version',
      ...names,
    )
    if (typeof revision !== 'string') return 'missing'
    if (!fitsShard(shard, eventId, { revision: Number(revision), epoch: Number(epoch ?? 0) })) return 'old'
    if (version !== versionOf(event)) return undefined
    const documents = collect(names, texts, found)
    return documents === undefined
      ? 'missing'
      : {
          head: { eventId, revision: Number(revision), event },
          documents,
          asOfMs: shard.asOfMs,
          epochs: { documents: Number(epoch ?? 0), asOf: shard.epoch },
        }
  }

  /** The event's record. Without it the shard is unknown, so that the hash cannot be checked. */
  const readEvent = async (eventId: EventId): Promise<StoredEvent | undefined> => {
    const event = await redis.hget(keys.event(eventId), 'event')
    return event === null ? undefined : checked(JSON.parse(event) as StoredEvent, eventId)
  }

  /** The record, its shard's hash, its documents; starts again if the record has changed meanwhile. */
  const readWhole = async (eventId: EventId, needs: Needs): Promise<RedisRead> => {
    for (let round = 0; round < rounds; round++) {
      const event = await readEvent(eventId)
      if (event === undefined) return 'missing'
      const shard = await batches.shard(event.shard, eventId)
      const read = await readDocuments({ eventId, event }, needs, shard)
      if (read !== undefined) return read
    }
    return 'missing'
  }

  /** Undefined without the event's hash. */
  const look = async (eventId: EventId, shard: number): Promise<Seen | undefined> => {
    const [hash, version] = await Promise.all([batches.shard(shard, eventId), batches.event(eventId, shard)])
    return version && { shard, hash, version }
  }

  return async (eventId, needs, cached, { permit, seen: before }) => {
    if (cached === undefined) {
      await permit
      return readWhole(eventId, needs)
    }
    const { event } = cached
    const seen = before?.shard === event.shard ? before : await look(eventId, event.shard)
    if (seen === undefined) return 'missing'
    const { hash, version } = seen
    if (!fitsShard(hash, eventId, version)) return 'old'
    if (version.revision === cached.revision && needs(event, version.revision).length === 0)
      return remembered(cached, hash, version)
    await permit
    return (await readDocuments({ eventId, event }, needs, hash)) ?? readWhole(eventId, needs)
  }
}

/** A read of an event that has not changed since `head` was read, and of which no document is needed. */
export const remembered = <Known extends KnownHead>(
  head: Known,
  shard: ShardHash,
  { epoch }: EventVersion,
) => ({
  head,
  documents: noDocuments,
  asOfMs: shard.asOfMs,
  epochs: { documents: epoch, asOf: shard.epoch },
})

/** Checks that a reply is of the event that was asked for: no event's data may go out as another's. */
function checked(event: StoredEvent, eventId: EventId): StoredEvent {
  if (event.eventId !== eventId) throw new Error('Redis answered with another event')
  return event
}

/** Undefined if a document is missing and the hash does not say that missing documents are empty. */
function collect(
  names: DocumentName[],
  texts: (string | null)[],
  found: string | null | undefined,
): DocumentTexts | undefined {
  const documents: DocumentTexts = new Map()
  for (const [index, name] of names.entries()) {
    const text = texts[index] ?? null
    if (text === null && found !== complete) return undefined
    documents.set(name, text ?? '')
  }
  return documents
}
