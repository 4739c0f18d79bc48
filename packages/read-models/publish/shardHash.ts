import type { EventId } from '@tally/contract'
import type { RedisClient } from '@tally/storage'
import { earliest } from '../offsets/reader.ts'
import { asOfField, eventRevisionField, type RedisKeys } from './keys.ts'
import type { ReadModelRedis, Texts } from './scripts.ts'

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

/** The revision of an event's hash, and the epoch in which its documents were composed. */
export type EventVersion = { revision: number; epoch: number }

const shardFields = (topics: string[]) => ['epoch', ...topics.map(asOfField)]

/** Reads a shard's hash with the published revisions of these events. Read it before the events' own hashes. */
export async function readShardHash(
  { redis, keys }: { redis: RedisClient; keys: RedisKeys },
  topics: string[],
  shard: number,
  ids: EventId[],
): Promise<ShardHash> {
  const fields = [...shardFields(topics), ...ids.map(eventRevisionField)]
  return toShardHash(await redis.hmget(keys.shard(shard), ...fields), topics.length, ids)
}

/** Reads the version of an event's hash; undefined without a hash. */
export const readEventVersion = async (
  { redis, keys }: { redis: RedisClient; keys: RedisKeys },
  id: EventId,
): Promise<EventVersion | undefined> => toEventVersion(await redis.hmget(keys.event(id), 'revision', 'epoch'))

/** What a shard's hash and those of its events say; an error in place of a hash that cannot be read. */
export type ShardVersions = { hash: ShardHash | Error; events: (EventVersion | undefined | Error)[] }

/**
 * Reads the hashes of shards and, each after its shard's, those of their events, in one command; one result for each
 * shard, with its events in their order. All keys must be on one node.
 */
export async function readVersions(
  { redis, keys }: { redis: ReadModelRedis; keys: RedisKeys },
  topics: string[],
  wanted: [shard: number, ids: EventId[]][],
): Promise<ShardVersions[]> {
  const hashes: string[] = []
  const args: (string | number)[] = [1 + topics.length, ...shardFields(topics)]
  for (const [shard, ids] of wanted) {
    hashes.push(keys.shard(shard))
    args.push(ids.length)
    for (const id of ids) {
      hashes.push(keys.event(id))
      args.push(eventRevisionField(id))
    }
  }
  const lines = (await redis.readVersions(hashes.length, ...hashes, ...args)).split('\n')
  let next = 0
  const take = <Result>(result: (texts: Texts) => Result): Result | Error => {
    const line = lines[next++] ?? ''
    // An error's message begins with a word.
    return /^[-\d]/.test(line)
      ? result(line.split(' ').map(nullIfMissing))
      : new Error(line || 'a line of the reply is missing')
  }
  return wanted.map(([, ids]) => ({
    hash: take(texts => toShardHash(texts, topics.length, ids)),
    events: ids.map(() => take(toEventVersion)),
  }))
}

const nullIfMissing = (text: string) => (text === '-' ? null : text)

function toShardHash([epoch, ...texts]: Texts, topics: number, ids: EventId[]): ShardHash {
  return {
    epoch: Number(epoch ?? 0),
    asOfMs: earliest(texts.slice(0, topics).map(text => (text === null ? null : Number(text)))),
    revisions: new Map(ids.map((id, index) => [id, Number(texts[topics + index] ?? 0)])),
  }
}

const toEventVersion = ([revision, epoch]: Texts): EventVersion | undefined =>
  typeof revision === 'string' ? { revision: Number(revision), epoch: Number(epoch ?? 0) } : undefined

/**
 * Whether an event's hash contains everything that its shard's hash, which was read first, claims
 * (docs/architecture.md, When Postgres or Redis goes back).
 */
export const fitsShard = (shard: ShardHash, eventId: EventId, { revision, epoch }: EventVersion): boolean =>
  revision >= (shard.revisions.get(eventId) ?? 0) && epoch <= shard.epoch
