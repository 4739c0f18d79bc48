import type { Database } from '@tally/platform'
import { type Kysely, sql } from 'kysely'

export type StoredOffset = {
  topic: string
  partition: number
  nextOffset: number
  /** See requiredRevision. */
  revision: number
  asOfMs: number | null
  caughtUpToMs: number | null
  isAdded: boolean
}

/**
 * The revision that Redis must have reached for a partition in `stored`: that of its last batch, or of an event of its
 * shard that a batch of another partition changed later.
 */
export const requiredRevision = sql<number>`greatest(stored.revision, (
  select max(head.revision) from event_heads as head where head.is_scattered and head.shard = stored.partition
))`

/** What is stored for all partitions of these topics. */
export async function readOffsets(db: Kysely<Database>, topics: string[]): Promise<StoredOffset[]> {
  return (await readStored(db, topics)).offsets
}

/** The same, with the database's clock (epoch milliseconds) and epoch (null: not open) at that time. */
export async function readStored(
  db: Kysely<Database>,
  topics: string[],
): Promise<{ offsets: StoredOffset[]; nowMs: number; epoch: number | null }> {
  // At least one row: clock and epoch are also needed from a database without offsets.
  const { rows } = await sql<
    Omit<StoredOffset, 'topic'> & { topic: string | null; nowMs: number; epoch: number | null }
  >`
select stored.topic, stored.partition, stored.next_offset as "nextOffset", ${requiredRevision} as revision,
  stored.is_added as "isAdded", watermark.as_of as "asOfMs", watermark.caught_up_to as "caughtUpToMs",
  database.now as "nowMs", database.epoch
from (select clock_timestamp() as now, current_epoch() as epoch offset 0) as database
left join shard_offsets as stored on stored.topic = any(${topics}::text[])
left join shard_watermarks as watermark
  on watermark.topic = stored.topic and watermark.partition = stored.partition`.execute(db)
  const offsets = rows.flatMap(({ nowMs: _, epoch: __, topic, ...offset }) =>
    topic === null ? [] : [{ topic, ...offset }],
  )
  return { offsets, nowMs: rows[0]?.nowMs ?? 0, epoch: rows[0]?.epoch ?? null }
}

/** The highest epoch and revision that a process has seen; see packages/schema/migrations/0016-baseline.ts. */
export type SeenEpoch = { epoch: number; revision: number }

/** The epoch of the running server; null if no connection that may write has opened it (0016-baseline.ts). */
export async function readEpoch(db: Kysely<Database>): Promise<number | null> {
  const { rows } = await sql<{ epoch: number | null }>`select current_epoch() as epoch`.execute(db)
  return rows[0]?.epoch ?? null
}

/**
 * The watermark of a shard: the earliest of its topics' watermarks, null while one is missing. Read it before the
 * figures that it applies to, or in one snapshot with them.
 */
export async function readAsOf(
  db: Kysely<Database>,
  topics: string[],
  shard: number,
): Promise<number | null> {
  const rows = await db
    .selectFrom('shard_watermarks')
    .select(['topic', 'as_of'])
    .where('topic', 'in', topics)
    .where('partition', '=', shard)
    .execute()
  const stored = new Map(rows.map(({ topic, as_of }) => [topic, as_of]))
  return earliest(topics.map(topic => stored.get(topic) ?? null))
}

/** The earliest watermark; null if one is missing. */
export function earliest(watermarks: (number | null)[]): number | null {
  return watermarks.reduce<number | null>(
    (first, at) => (first === null || at === null ? null : Math.min(first, at)),
    Number.MAX_SAFE_INTEGER,
  )
}

/** Like readAsOf, of every shard that has all watermarks; `nowMs` is the database's clock, 0 without any shard. */
export async function readAsOfByShard(
  db: Kysely<Database>,
  topics: string[],
): Promise<{ nowMs: number; byShard: Map<number, number> }> {
  const rows = await db
    .selectFrom('shard_watermarks')
    .select(['partition', eb => eb.fn.min('as_of').as('as_of'), sql<number>`clock_timestamp()`.as('now')])
    .where('topic', 'in', topics)
    .groupBy('partition')
    .having(eb => eb.fn.count('as_of'), '=', topics.length)
    .execute()
  const byShard = rows.flatMap(({ partition, as_of }) =>
    as_of === null ? [] : [[partition, as_of] as const],
  )
  return { nowMs: rows[0]?.now ?? 0, byShard: new Map(byShard) }
}
