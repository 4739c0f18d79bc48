import type { Kysely } from 'kysely'
import type { Database } from '../postgres/database.ts'
import type { RedisClient } from '../redis/client.ts'
import { asOfField, type RedisKeys } from '../redis/keys.ts'

export type StoredOffset = {
  topic: string
  partition: number
  nextOffset: number
  revision: number
  asOfMs: number | null
  caughtUpToMs: number | null
  isAdded: boolean
}

/** What is stored for all partitions of these topics. */
export async function readOffsets(db: Kysely<Database>, topics: string[]): Promise<StoredOffset[]> {
  const rows = await db
    .selectFrom('shard_offsets')
    .select(['topic', 'partition', 'next_offset', 'revision', 'as_of', 'caught_up_to', 'is_added'])
    .where('topic', 'in', topics)
    .execute()
  return rows.map(row => ({
    topic: row.topic,
    partition: row.partition,
    nextOffset: row.next_offset,
    revision: row.revision,
    asOfMs: row.as_of,
    caughtUpToMs: row.caught_up_to,
    isAdded: row.is_added,
  }))
}

/**
 * The moment up to which everything of a shard is counted: the earliest of its topics' moments, null while one
 * of them has none. Read it before the figures that it is said of, or in one snapshot with them.
 */
export async function readAsOf(
  db: Kysely<Database>,
  topics: string[],
  shard: number,
): Promise<number | null> {
  const rows = await db
    .selectFrom('shard_offsets')
    .select('as_of')
    .where('topic', 'in', topics)
    .where('partition', '=', shard)
    .execute()
  return earliest(topics.map((_, index) => rows[index]?.as_of ?? null))
}

/** The same as Redis says it. */
export async function readPublishedAsOf(
  { redis, keys }: { redis: RedisClient; keys: RedisKeys },
  topics: string[],
  shard: number,
): Promise<number | null> {
  const moments = await redis.hmget(keys.shard(shard), ...topics.map(asOfField))
  return earliest(moments.map(text => (text === null ? null : Number(text))))
}

/** The earliest of some moments; null where one is missing. */
export function earliest(moments: (number | null)[]): number | null {
  return moments.reduce<number | null>(
    (first, at) => (first === null || at === null ? null : Math.min(first, at)),
    Number.MAX_SAFE_INTEGER,
  )
}

/** As readAsOf, of every shard that has a watermark for each topic. */
export async function readAsOfByShard(db: Kysely<Database>, topics: string[]): Promise<Map<number, number>> {
  const rows = await db
    .selectFrom('shard_offsets')
    .select(['partition', eb => eb.fn.min('as_of').as('as_of')])
    .where('topic', 'in', topics)
    .groupBy('partition')
    .having(eb => eb.fn.count('as_of'), '=', topics.length)
    .execute()
  return new Map(rows.flatMap(({ partition, as_of }) => (as_of === null ? [] : [[partition, as_of]])))
}
