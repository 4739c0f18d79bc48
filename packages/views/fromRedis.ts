import type { EventId } from '@tally/contract'
import { type DocumentName, type StoredEvent, versionOf } from '@tally/figures'
import {
  complete,
  createLines,
  type EventVersion,
  eventRevisionField,
  fitsShard,
  type ReadModel,
  type ReadModelRedis,
  type ReadVersion,
  readEventVersion,
  readShardHash,
  type ShardHash,
  shardFields,
  type Texts,
  toEventVersion,
  toShardHash,
} from '@tally/publication'
import DataLoader from 'dataloader'

/** An event at one revision. */
export type Head = { eventId: EventId; revision: number; event: StoredEvent }

/** What is enough of it to tell whether remembered answers still hold. */
export type KnownHead = Omit<Head, 'event'> & { event: { shard: number; isScattered?: true | undefined } }

/** Documents by name, as JSON; an empty text is a document without orders. */
export type DocumentTexts = Map<DocumentName, string>

/** Which documents of an event at a revision are still needed to compose the answer. */
export type Needs = (event: StoredEvent, revision: number) => DocumentName[]

/** The result of a read: the event, the needed documents, and the watermark up to which they are complete. */
export type Read = Omit<ReadVersion, 'revision'> & { head: Head; documents: DocumentTexts }

/** A read without the event's record and documents. */
export type KnownRead = Pick<Read, 'asOfMs' | 'epochs'> & { head: KnownHead }

/** The hash of a shard and, read after it, the version of one of its events. */
export type Seen = { shard: number; hash: ShardHash; version: EventVersion }

/**
 * `missing`: Redis does not have the event, or not all of it. `old`: its documents may lack what the shard's watermark
 * claims, because a key in Redis went back (a failover, a restored key) or Postgres lost commits.
 */
export type RedisRead = Read | 'missing' | 'old'
/** `cached`: the event's record as this process last read it, with the revision at which it needs fewer documents. */
type RedisReads = (
  eventId: EventId,
  needs: Needs,
  cached: Head | undefined,
  reading?: Reading,
) => Promise<RedisRead>
/** `allowance`: more than versions is read only with it. `seen`: what the request's own batch has read already. */
export type Reading = { allowance?: Promise<unknown> | undefined; seen?: Seen | undefined }

type InRedis = Omit<ReadModel, 'db'>

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
export function createRedisReads({ redis, keys, look }: InRedis & { look: Look }): RedisReads {
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
    const read = { revision: Number(revision), epoch: Number(epoch ?? 0) }
    if (!fitsShard(hash, eventId, read)) return 'old'
    if (version !== versionOf(event)) return undefined
    // A missing document is empty only if the hash says so.
    if (found !== complete && texts.includes(null)) return 'missing'
    const head = { eventId, revision: read.revision, event }
    return { ...remembered(head, hash, read), documents: named(names, texts) }
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

/** Reads the hash of a shard and, after it, the version of one of its events; undefined without the event's hash. */
export type Look = (eventId: EventId, shard: number) => Promise<Seen | undefined>
type Place = { eventId: EventId; shard: number }

/** Redis answers nothing else while it reads for one command: 2 µs for a version. */
const mostLooks = 256

/** On one node, looks that begin together are one command: 200 commands cost more than all else of their looks. */
export function createLooks({ redis, keys }: InRedis, topics: string[]): Look {
  const fields = shardFields(topics)
  const lookAtAll = async (places: readonly Place[]): Promise<(Seen | undefined | Error)[]> => {
    const byShard = Map.groupBy(places, ({ shard }) => shard)
    const hashes: string[] = []
    const revisions: (string | number)[] = []
    for (const [shard, looks] of byShard) {
      hashes.push(keys.shard(shard), ...looks.map(({ eventId }) => keys.event(eventId)))
      revisions.push(looks.length, ...looks.map(({ eventId }) => eventRevisionField(eventId)))
    }
    const lines = createLines(
      await redis.readVersions(hashes.length, ...hashes, fields.length, ...fields, ...revisions),
    )
    const seen = new Map<Place, Seen | undefined | Error>()
    for (const [shard, looks] of byShard) {
      const ids = looks.map(({ eventId }) => eventId)
      const hash = toShardHash(lines.next(), topics, ids)
      for (const place of looks) seen.set(place, seenOf(shard, hash, toEventVersion(lines.next())))
    }
    return places.map(place => seen.get(place))
  }
  const ofNode = new DataLoader(lookAtAll, { cache: false, maxBatchSize: mostLooks })
  const ofCluster = async (eventId: EventId, shard: number) => {
    const hash = await readShardHash({ redis, keys }, topics, shard, [eventId])
    const version = await readEventVersion({ redis, keys }, eventId)
    return version && { shard, hash, version }
  }
  // Whether it is a cluster is not known before Redis has answered.
  return (eventId, shard) => (redis.isCluster ? ofCluster(eventId, shard) : ofNode.load({ eventId, shard }))
}

function seenOf(
  shard: number,
  hash: ShardHash | Error,
  version: EventVersion | undefined | Error,
): Seen | undefined | Error {
  if (hash instanceof Error) return hash
  return version === undefined || version instanceof Error ? version : { shard, hash, version }
}

/** Reads documents and fields of an event, all of one revision; rejects if its hash cannot be read. */
type TextReads = (key: string, ...names: string[]) => Promise<Texts>

/** Nothing else is answered while Redis reads so many: usual documents take 0.1 ms each, those of 2,000 items 3 ms. */
const mostTextReads = 8

/**
 * Returns the function that reads documents. On one node, reads that begin together are one command: the polls of a
 * request batch, or the live screens, whose events have changed all begin to read when their versions are known.
 */
export function createTexts(redis: ReadModelRedis): TextReads {
  const readAll = async (wanted: readonly { key: string; names: string[] }[]): Promise<(Texts | Error)[]> => {
    const replies = await redis.readDocumentsOfEach(
      wanted.length,
      ...wanted.map(({ key }) => key),
      ...wanted.flatMap(({ names }) => [names.length, ...names]),
    )
    return replies.map(reply => (typeof reply === 'string' ? new Error(reply) : reply))
  }
  const ofNode = new DataLoader(readAll, { cache: false, maxBatchSize: mostTextReads })
  // Whether it is a cluster is not known before Redis has answered.
  return (key, ...names) => (redis.isCluster ? redis.hmget(key, ...names) : ofNode.load({ key, names }))
}

/** A read of an event that has not changed since `head` was read, and of which no document is needed. */
const remembered = (head: Head, shard: ShardHash, { epoch }: EventVersion): Read => ({
  head,
  documents: noDocuments,
  asOfMs: shard.asOfMs,
  epochs: { documents: epoch, asOf: shard.epoch },
})
const noDocuments: DocumentTexts = new Map()
