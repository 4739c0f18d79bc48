import type { EventId } from '@tally/contract'
import {
  createLines,
  type EventVersion,
  eventRevisionField,
  type ReadModelRedis,
  type RedisKeys,
  readEventVersion,
  readShardHash,
  type ShardHash,
  shardFields,
  toEventVersion,
  toShardHash,
} from '@tally/publication'
import DataLoader from 'dataloader'
import type { Seen } from './read.ts'

/** Reads the hash of a shard and, after it, the version of one of its events; undefined without the event's hash. */
export type Look = (eventId: EventId, shard: number) => Promise<Seen | undefined>
type Place = { eventId: EventId; shard: number }

/** Redis answers nothing else while it reads for one command: 2 µs for a version. */
const mostEvents = 256

/** On one node, looks that begin together are one command: 200 commands cost more than all else of their looks. */
export function createLooks(
  { redis, keys }: { redis: ReadModelRedis; keys: RedisKeys },
  topics: string[],
): Look {
  const fields = shardFields(topics)
  const lookAtAll = async (places: readonly Place[]): Promise<(Seen | undefined | Error)[]> => {
    const byShard = Map.groupBy(places, ({ shard }) => shard)
    const hashes: string[] = []
    const revisions: (string | number)[] = []
    for (const [shard, of] of byShard) {
      hashes.push(keys.shard(shard), ...of.map(({ eventId }) => keys.event(eventId)))
      revisions.push(of.length, ...of.map(({ eventId }) => eventRevisionField(eventId)))
    }
    const lines = createLines(
      await redis.readVersions(hashes.length, ...hashes, fields.length, ...fields, ...revisions),
    )
    const seen = new Map<Place, Seen | undefined | Error>()
    for (const [shard, of] of byShard) {
      const ids = of.map(({ eventId }) => eventId)
      const hash = toShardHash(lines.next(), topics, ids)
      for (const place of of) seen.set(place, seenOf(shard, hash, toEventVersion(lines.next())))
    }
    return places.map(place => seen.get(place))
  }
  const ofNode = new DataLoader(lookAtAll, { cache: false, maxBatchSize: mostEvents })
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
