import type { EventId } from '@tally/contract'
import { earliest } from '@tally/offsets'
import type { RedisClient } from '@tally/platform'
import { asOfField, eventRevisionField, type RedisKeys } from './keys.ts'

/** A consistent view of a shard's hash. */
export type ShardHash = {
  /** Up to when all is counted and published (epoch ms), of the topic furthest behind; null if one is missing. */
  asOfMs: number | null
  /** The epoch of the watermarks; 0 if the hash has none. */
  epoch: number
  /** The highest published revision of each requested event; 0 if the hash has none. */
  revisions: Map<EventId, number>
}

/** The revision of an event's hash, and the epoch in which its documents were composed. */
export type EventVersion = { revision: number; epoch: number }

/** The fields of a shard's hash that say up to when everything is counted. */
export const shardFields = (topics: string[]) => ['epoch', ...topics.map(asOfField)]

/** Reads a shard's hash with the published revisions of these events. Read it before the events' own hashes. */
export async function readShardHash(
  { redis, keys }: { redis: RedisClient; keys: RedisKeys },
  topics: string[],
  shard: number,
  ids: EventId[],
): Promise<ShardHash> {
  const fields = [...shardFields(topics), ...ids.map(eventRevisionField)]
  const texts = await redis.hmget(keys.shard(shard), ...fields)
  return toShardHash(texts.map(toNumber), topics, ids) as ShardHash
}

/** Reads the version of an event's hash; undefined without a hash. */
export const readEventVersion = async (
  { redis, keys }: { redis: RedisClient; keys: RedisKeys },
  id: EventId,
): Promise<EventVersion | undefined> => {
  const texts = await redis.hmget(keys.event(id), 'revision', 'epoch')
  return toEventVersion(texts.map(toNumber)) as EventVersion | undefined
}

/** A shard's hash from its line in the reply of a script: epoch, watermarks, revisions of these events. */
export function toShardHash(line: number[] | Error, topics: string[], ids: EventId[]): ShardHash | Error {
  if (line instanceof Error) return line
  const [epoch = Number.NaN, ...rest] = line
  return {
    epoch: epoch || 0,
    asOfMs: earliest(topics.map((_, index) => toTime(rest[index]))),
    revisions: new Map(ids.map((id, index) => [id, rest[topics.length + index] || 0])),
  }
}

/** The version of an event's hash from its line in the reply of a script; undefined without a hash. */
export function toEventVersion(line: number[] | Error): EventVersion | undefined | Error {
  if (line instanceof Error) return line
  const [revision = Number.NaN, epoch] = line
  return Number.isNaN(revision) ? undefined : { revision, epoch: epoch || 0 }
}

/** Null if it is absent, or no time that a Date can have. */
const toTime = (ms = Number.NaN): number | null => (Math.abs(ms) <= 8.64e15 ? ms : null)

const toNumber = (text: string | null | undefined): number => (text == null ? Number.NaN : Number(text))

/**
 * Whether an event's hash contains everything that its shard's hash, which was read first, claims
 * (docs/architecture.md, When Postgres or Redis goes back).
 */
export const fitsShard = (shard: ShardHash, eventId: EventId, { revision, epoch }: EventVersion): boolean =>
  revision >= (shard.revisions.get(eventId) ?? 0) && epoch <= shard.epoch
