import type { EventId } from '@tally/contract'
import {
  type EventVersion,
  type ReadModelRedis,
  type RedisKeys,
  readDocumentsOfEach,
  readEventVersion,
  readShardHash,
  readVersions,
  type ShardHash,
  type Texts,
} from '@tally/read-models'
import DataLoader from 'dataloader'

/** An event and the shard that its record names. */
type EventPlace = { eventId: EventId; shard: number }
/** The hash of a shard and, read after it, the version of one of its events; undefined without the event's hash. */
export type Seen = { hash: ShardHash; version: EventVersion | undefined }

/** What is read of watched days in Redis; each rejects if Redis does not answer. */
type RedisReads = {
  seen(place: EventPlace): Promise<Seen>
  /** Texts of documents and fields of an event, all of one revision; null for a missing one. */
  texts(eventId: EventId, ...names: string[]): Promise<Texts>
}

/** Redis answers nothing else while it reads for one command: 2 µs for a version, 0.1 ms for the documents of a day. */
const most = { versions: 256, documents: 8 }

/**
 * On one node, reads that begin together are one command: 200 commands cost this process more than all else of a look.
 */
export function openRedisReads(
  { redis, keys }: { redis: ReadModelRedis; keys: RedisKeys },
  topics: string[],
): RedisReads {
  const readSeen = async (places: readonly EventPlace[]): Promise<(Seen | Error)[]> => {
    const byShard = [...Map.groupBy(places, ({ shard }) => shard)]
    const wanted = byShard.map(([shard, of]): [number, EventId[]] => [
      shard,
      of.map(({ eventId }) => eventId),
    ])
    const found = await readVersions({ redis, keys }, topics, wanted)
    const seen = new Map<EventPlace, Seen | Error>()
    for (const [index, [, of]] of byShard.entries()) {
      const { hash, events } = found[index] as (typeof found)[number]
      for (const [index, place] of of.entries()) seen.set(place, seenOf(hash, events[index]))
    }
    return places.map(place => seen.get(place) as Seen | Error)
  }
  const seen = new DataLoader(readSeen, { cache: false, maxBatchSize: most.versions })
  const texts = new DataLoader<{ key: string; names: string[] }, Texts>(
    wanted => readDocumentsOfEach(redis, [...wanted]),
    { cache: false, maxBatchSize: most.documents },
  )
  const ofNode: RedisReads = {
    seen: place => seen.load(place),
    texts: (eventId, ...names) => texts.load({ key: keys.event(eventId), names }),
  }
  const ofCluster: RedisReads = {
    async seen({ eventId, shard }) {
      const hash = await readShardHash({ redis, keys }, topics, shard, [eventId])
      return { hash, version: await readEventVersion({ redis, keys }, eventId) }
    },
    texts: (eventId, ...names) => redis.hmget(keys.event(eventId), ...names),
  }
  // Not known before Redis has answered.
  const reads = () => (redis.isCluster ? ofCluster : ofNode)
  return {
    seen: place => reads().seen(place),
    texts: (eventId, ...names) => reads().texts(eventId, ...names),
  }
}

function seenOf(hash: ShardHash | Error, version: EventVersion | undefined | Error): Seen | Error {
  if (hash instanceof Error) return hash
  return version instanceof Error ? version : { hash, version }
}
