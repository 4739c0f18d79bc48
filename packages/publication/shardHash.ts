import type { EventId } from '@tally/contract'
import type { RedisClient } from '@tally/platform'
import { asOfField, eventRevisionField, type RedisKeys } from './redis.ts'

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
  const watermarks = topics.map((_, index) => line[1 + index] ?? Number.NaN)
  return {
    epoch: line[0] || 0,
    asOfMs: watermarks.every(isTime) ? Math.min(...watermarks) : null,
    revisions: new Map(ids.map((id, index) => [id, line[1 + topics.length + index] || 0])),
  }
}

/** The version of an event's hash from its line in the reply of a script; undefined without a hash. */
export function toEventVersion(line: number[] | Error): EventVersion | undefined | Error {
  if (line instanceof Error) return line
  const [revision = Number.NaN, epoch] = line
  return Number.isNaN(revision) ? undefined : { revision, epoch: epoch || 0 }
}

/** Whether it is there, and a time that a Date can have. */
const isTime = (ms: number): boolean => Math.abs(ms) <= 8.64e15

const toNumber = (text: string | null | undefined): number => (text == null ? Number.NaN : Number(text))

/**
 * Whether an event's hash contains everything that its shard's hash, which was read first, claims
 * (docs/architecture.md, When Postgres or Redis goes back).
 */
export const fitsShard = (shard: ShardHash, eventId: EventId, { revision, epoch }: EventVersion): boolean =>
  revision >= (shard.revisions.get(eventId) ?? 0) && epoch <= shard.epoch

/** The last answer about an event: its revision, its watermark, and the epoch of the watermark. */
export type LastAnswer = { revision: number; asOfMs: number | null; epoch: number }

/** The version of a read; `epochs` are those of the documents and of the watermark. */
export type ReadVersion = {
  revision: number
  asOfMs: number | null
  epochs: { documents: number; asOf: number }
}

/** Whether a read of Redis is older than the last answer; the caller then reads from Postgres. */
export const isBehind = (last: LastAnswer | undefined, read: ReadVersion): boolean =>
  last !== undefined &&
  !holdsAll(last, read) &&
  (read.revision < last.revision || (read.asOfMs ?? 0) < (last.asOfMs ?? 0))

/**
 * The next answer from a read of Redis: with its own watermark, or with the last one if the documents are at least as
 * new as then, Postgres lost no commits in between, and its clock has not gone back behind that watermark (`isFuture`).
 */
export function nextAnswer(
  last: LastAnswer | undefined,
  { revision, asOfMs, epochs }: ReadVersion,
  isFuture: (asOfMs: number) => boolean,
): LastAnswer {
  const isLater = last === undefined || (asOfMs ?? 0) >= (last.asOfMs ?? 0)
  return isLater || isFuture(last.asOfMs ?? 0) || !holdsAll(last, { revision, asOfMs, epochs })
    ? { revision, asOfMs, epoch: epochs.asOf }
    : { ...last, revision }
}

/** Whether the documents hold everything that they held in the last answer. */
const holdsAll = (last: LastAnswer, { revision, epochs }: ReadVersion): boolean =>
  revision >= last.revision && epochs.documents <= last.epoch

const [newline, space, minus, zero, nine] = [10, 32, 45, 48, 57]

/**
 * Reads the reply of a script line by line: whole numbers separated by spaces, NaN for one that is missing (`-`), or an
 * error for a line that is anything else, which is an error's message. There are no negative numbers or fractions. It
 * reads characters: splitting a reply makes hundreds of strings.
 */
export function createLines(reply: string): { next(): number[] | Error } {
  let at = 0

  const errorFrom = (start: number): Error => {
    const end = reply.indexOf('\n', start)
    const message = reply.slice(start, end < 0 ? reply.length : end)
    at = start + message.length + 1
    return new Error(message || 'a line of the reply is missing')
  }

  return {
    next() {
      const start = at
      const numbers: number[] = []
      let number: number | undefined
      for (; ; at++) {
        const code = reply.charCodeAt(at)
        if (code >= zero && code <= nine) number = (number ?? 0) * 10 + (code - zero)
        else if (code === minus) number = Number.NaN
        else if (number === undefined) return errorFrom(start)
        else {
          numbers.push(number)
          number = undefined
          if (code === space) continue
          if (code !== newline && at < reply.length) return errorFrom(start)
          at += 1
          return numbers
        }
      }
    },
  }
}
