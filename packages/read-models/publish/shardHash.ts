import type { EventId } from '@tally/contract'
import type { RedisClient } from '@tally/storage'
import { earliest } from '../offsets/reader.ts'
import { asOfField, eventRevisionField, type RedisKeys } from './keys.ts'

/** A consistent view of a shard's hash. */
export type ShardHash = {
  /**
   * The watermark up to which everything is counted and published, in epoch milliseconds: that of the topic furthest
   * behind; null if one is missing.
   */
  asOfMs: number | null
  /** The epoch of the watermarks; 0 if the hash has none. */
  epoch: number
  /** The highest published revision of each requested event; 0 if the hash has none. */
  revisions: Map<EventId, number>
}

/** Reads a shard's hash with the published revisions of these events. Read it before the events' own hashes. */
export async function readShardHash(
  { redis, keys }: { redis: RedisClient; keys: RedisKeys },
  topics: string[],
  shard: number,
  ids: EventId[],
): Promise<ShardHash> {
  const fields = ['epoch', ...topics.map(asOfField), ...ids.map(eventRevisionField)]
  const [epoch = null, ...texts] = await redis.hmget(keys.shard(shard), ...fields)
  const revisions = texts.slice(topics.length)
  return {
    epoch: Number(epoch ?? 0),
    asOfMs: earliest(texts.slice(0, topics.length).map(text => (text === null ? null : Number(text)))),
    revisions: new Map(ids.map((id, index) => [id, Number(revisions[index] ?? 0)])),
  }
}

/** The revision of an event's hash, and the epoch in which its documents were composed. */
export type EventVersion = { revision: number; epoch: number }

/**
 * Whether an event's hash contains everything that its shard's hash, which was read first, claims
 * (docs/architecture.md, When Postgres or Redis goes back).
 */
export const fitsShard = (shard: ShardHash, eventId: EventId, { revision, epoch }: EventVersion): boolean =>
  revision >= (shard.revisions.get(eventId) ?? 0) && epoch <= shard.epoch
