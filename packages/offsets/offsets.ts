import {
  bigints,
  booleans,
  type Database,
  ints,
  type Postgres,
  TransientError,
  type Tx,
} from '@tally/platform'
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

/** A stored time; null, which means unknown, if it is later than the clock: that has gone back since. */
export const upToNow = (column: string) =>
  sql<number | null>`case when ${sql.ref(column)} <= clock_timestamp() then ${sql.ref(column)} end`

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
  stored.is_added as "isAdded", ${upToNow('watermark.as_of')} as "asOfMs",
  ${upToNow('watermark.caught_up_to')} as "caughtUpToMs",
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
    .select(['topic', upToNow('as_of').as('as_of')])
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

/** Like readAsOf, of every shard that has all watermarks; `nowMs`: the database's clock, infinite without any shard. */
export async function readAsOfByShard(
  db: Kysely<Database>,
  topics: string[],
): Promise<{ nowMs: number; byShard: Map<number, number> }> {
  const { rows } = await sql<{ partition: number; asOfMs: number | null; nowMs: number }>`
select partition, clock_timestamp() as "nowMs",
  case when count(${upToNow('as_of')}) = ${topics.length} then min(as_of) end as "asOfMs"
from shard_watermarks
where topic = any(${topics}::text[])
group by partition`.execute(db)
  const byShard = rows.flatMap(({ partition, asOfMs }) =>
    asOfMs === null ? [] : [[partition, asOfMs] as const],
  )
  return { nowMs: rows[0]?.nowMs ?? Number.POSITIVE_INFINITY, byShard: new Map(byShard) }
}

/**
 * Inserts the rows of newly assigned partitions; existing ones stay. A new partition of a topic that was counted before
 * was added to it, and begins with the lowest watermark of the topic's partitions.
 */
export async function ensureOffsets(db: Postgres, topic: string, partitions: number[]): Promise<void> {
  await sql`
with before as (
  select
    coalesce(bool_or(as_of is not null), false) as is_counted,
    case when bool_and(as_of is not null) then min(as_of) end as as_of
  from shard_watermarks
  where topic = ${topic}
), offsets as (
  insert into shard_offsets (topic, partition, is_added)
  select ${topic}, partition, before.is_counted from unnest(${partitions}::int[]) as partition, before
  order by partition
  on conflict do nothing
)
insert into shard_watermarks (topic, partition, as_of)
select ${topic}, partition, before.as_of from unnest(${partitions}::int[]) as partition, before
order by partition
on conflict do nothing`.execute(db)
}

export type LockedOffset = { partition: number; next: number; revision: number; isAdded: boolean }

/**
 * Locks the rows of some partitions of a topic until the transaction ends, in the same order for all batches, and
 * returns the offset of the first record of each that is not applied, in the order of `partitions`. The holder of a
 * lock is the only one that applies its partition (docs/architecture.md, invariant 2). With `lockTimeoutMs`, the
 * transaction waits no longer than that for any lock; it then throws SQLSTATE 55P03.
 */
export async function lockOffsets(
  tx: Tx,
  topic: string,
  partitions: number[],
  { lockTimeoutMs }: { lockTimeoutMs?: number | undefined } = {},
): Promise<LockedOffset[]> {
  // Postgres evaluates a row's condition before it locks the row.
  const lockTimeout =
    lockTimeoutMs === undefined
      ? sql``
      : sql`and set_config('lock_timeout', ${String(lockTimeoutMs)}, true) is not null`
  const { rows } = await sql<LockedOffset>`
select partition, next_offset as next, revision, is_added as "isAdded"
from shard_offsets
where topic = ${topic} and partition = any(${partitions}::int[]) ${lockTimeout}
order by partition
for update`.execute(tx)
  return partitions.map(partition => {
    const row = rows.find(locked => locked.partition === partition)
    if (row !== undefined) return row
    // A restored database may lack the row; the watch inserts it again.
    throw new TransientError(`no offset is stored for partition ${partition} of ${topic}`)
  })
}

/** The same for one partition. */
export async function lockOffset(tx: Tx, topic: string, partition: number): Promise<LockedOffset> {
  const [locked] = await lockOffsets(tx, topic, [partition])
  return locked as LockedOffset
}

export type ReachedOffset = {
  partition: number
  /** Where the next batch begins. */
  next: number
  /** The batch's revision, if it changed anything. */
  revision: number | undefined
  /** The last record of the batch, if there was one. */
  last?: { fingerprint: Buffer; offset: number } | undefined
  /** Whether the partition holds records that belong to another one. */
  isAdded?: boolean
}

/** Stores what some partitions of a topic have reached; each partition at most once. */
export async function storeOffsets(tx: Tx, topic: string, reached: ReachedOffset[]): Promise<void> {
  await sql`
update shard_offsets as stored set
  next_offset = reached.next,
  revision = coalesce(reached.revision, stored.revision),
  fingerprint = case when reached.fingerprint_offset is null then stored.fingerprint else reached.fingerprint end,
  fingerprint_offset = coalesce(reached.fingerprint_offset, stored.fingerprint_offset),
  is_added = stored.is_added or reached.is_added
from unnest(
  ${ints(reached.map(({ partition }) => partition))}::int[],
  ${bigints(reached.map(({ next }) => next))}::bigint[],
  ${bigints(reached.map(({ revision }) => revision ?? null))}::bigint[],
  ${reached.map(({ last }) => last?.fingerprint ?? null)}::bytea[],
  ${bigints(reached.map(({ last }) => last?.offset ?? null))}::bigint[],
  ${booleans(reached.map(({ isAdded }) => isAdded === true))}::boolean[]
) as reached (partition, next, revision, fingerprint, fingerprint_offset, is_added)
where stored.topic = ${topic} and stored.partition = reached.partition`.execute(tx)
}

/** One revision from the sequence; take it once all locks are held, so that revisions grow in the order of commits. */
export async function nextRevision(tx: Tx): Promise<number> {
  const { rows } = await sql<{ revision: number }>`select nextval('revisions') as revision`.execute(tx)
  return (rows[0] as { revision: number }).revision
}

/**
 * Opens an epoch at or above the highest one that this process has seen (the database's clock may have been ahead),
 * unless one is open; new connections do that automatically. Returns the epoch (migrations/0016-baseline.ts).
 */
export async function openEpoch(db: Postgres, { epoch, revision }: SeenEpoch): Promise<number> {
  const { rows } = await sql<{ epoch: number }>`select open_epoch(${epoch}, ${revision}) as epoch`.execute(db)
  return (rows[0] as { epoch: number }).epoch
}
