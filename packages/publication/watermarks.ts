import { requiredRevision, upToNow } from '@tally/offsets'
import type { Postgres, Tx } from '@tally/platform'
import { type RawBuilder, sql } from 'kysely'

/** `end` was the end of the partition at `atMs` of the database's clock, or later. */
export type PartitionEnd = { topic: string; partition: number; end: number; atMs: number }

/**
 * Everything that a partition held at `caughtUpToMs` is counted, and everything that any partition held of its events
 * at `asOfMs`; null: not known yet.
 */
export type PartitionAsOf = {
  topic: string
  partition: number
  /** The revision that Redis must have reached for it (requiredRevision). */
  revision: number
  asOfMs: number | null
  caughtUpToMs: number | null
}

/** The watermarks, with the clock and the epoch (null: not open) of the database that raised them. */
export type RaisedAsOf = { raised: PartitionAsOf[]; nowMs: number; epoch: number | null }

/**
 * If a partition has applied everything up to its end, raises its watermark to that end's time; returns the watermarks
 * of all partitions in `ends`. Once a partition has `is_added`, an event's records may be in any two partitions, so the
 * one that is furthest behind limits all. A watermark never goes back, but one that is later than the database's clock
 * is forgotten, reached or not. A row that another session has locked is skipped.
 */
export async function raiseAsOf(db: Postgres, topics: string[], ends: PartitionEnd[]): Promise<RaisedAsOf> {
  const logEnds = asRows(ends)
  return db.transaction().execute(async tx => {
    await forgetLater(tx, topics)
    await raiseCaughtUp(tx, logEnds)
    const raised = await raiseWatermarks(tx, topics, logEnds)
    const { rows: now } = await sql<{ nowMs: number; epoch: number | null }>`
select clock_timestamp() as "nowMs", current_epoch() as epoch`.execute(tx)
    return { raised, ...(now[0] as { nowMs: number; epoch: number | null }) }
  })
}

/** The ends as rows `log_end` of a `from`. */
const asRows = (ends: PartitionEnd[]): RawBuilder<unknown> => sql`unnest(
  ${ends.map(({ topic }) => topic)}::text[],
  ${ends.map(({ partition }) => partition)}::int[],
  ${ends.map(({ end }) => end)}::bigint[],
  ${ends.map(({ atMs }) => new Date(atMs).toISOString())}::timestamptz[]
) as log_end (topic, partition, end_offset, at)`

/** Locks the rows of these ends' partitions, except those that another session has locked. */
const free = (logEnds: RawBuilder<unknown>): RawBuilder<unknown> => sql`free as (
  select topic, partition
  from shard_watermarks join ${logEnds} using (topic, partition)
  order by topic, partition
  for update of shard_watermarks skip locked
)`

/** Forgets what is later than the clock: that has gone back, and what Kafka got since then may not be counted. */
async function forgetLater(tx: Tx, topics: string[]): Promise<void> {
  await sql`
with later as (
  select topic, partition
  from shard_watermarks
  where topic = any(${topics}::text[]) and greatest(as_of, caught_up_to, published_up_to) > clock_timestamp()
  order by topic, partition
  for update skip locked
)
update shard_watermarks as stored
set as_of = ${upToNow('as_of')}, caught_up_to = ${upToNow('caught_up_to')},
  published_up_to = ${upToNow('published_up_to')}
from later
where stored.topic = later.topic and stored.partition = later.partition`.execute(tx)
}

/** Raises `caught_up_to` of each partition that has applied everything up to its end. */
async function raiseCaughtUp(tx: Tx, logEnds: RawBuilder<unknown>): Promise<void> {
  await sql`
with ${free(logEnds)}
update shard_watermarks as stored
set caught_up_to = greatest(stored.caught_up_to, log_end.at)
from ${logEnds}
join free using (topic, partition)
join shard_offsets as applied on applied.topic = log_end.topic and applied.partition = log_end.partition
where stored.topic = log_end.topic and stored.partition = log_end.partition
  and applied.next_offset >= log_end.end_offset and log_end.at <= clock_timestamp()`.execute(tx)
}

/** Raises `as_of` as far as `caught_up_to` permits, and returns the watermarks, none later than its end. */
async function raiseWatermarks(
  tx: Tx,
  topics: string[],
  logEnds: RawBuilder<unknown>,
): Promise<PartitionAsOf[]> {
  const { rows } = await sql<PartitionAsOf>`
with ${free(logEnds)}, every as (
  select
    bool_or(is_added) as has_added,
    case when bool_and(caught_up_to is not null) then min(caught_up_to) end as caught_up_to
  from shard_offsets left join shard_watermarks using (topic, partition)
  where topic = any(${topics}::text[])
), publishable as (
  select stored.topic, stored.partition, ${requiredRevision} as revision,
    case when every.has_added then every.caught_up_to else watermark.caught_up_to end as at
  from every, shard_offsets as stored join shard_watermarks as watermark using (topic, partition)
  where stored.topic = any(${topics}::text[])
)
update shard_watermarks as stored
set as_of = greatest(stored.as_of, publishable.at)
from publishable, ${logEnds} join free using (topic, partition)
where stored.topic = log_end.topic and stored.partition = log_end.partition
  and stored.topic = publishable.topic and stored.partition = publishable.partition
returning
  stored.topic,
  stored.partition,
  publishable.revision,
  case when stored.as_of is not null then least(stored.as_of, log_end.at) end as "asOfMs",
  case when stored.caught_up_to is not null then least(stored.caught_up_to, log_end.at) end as "caughtUpToMs"`.execute(
    tx,
  )
  return rows
}

/**
 * Stores that these partitions are published up to where they had caught up, and returns up to when all partitions of
 * these topics are; null while one is unknown. This limits the watermarks in Redis once a partition has `is_added`: an
 * event's documents may depend on every partition, whichever projector reads it.
 */
export async function raisePublished(
  db: Postgres,
  topics: string[],
  published: PartitionAsOf[],
): Promise<number | null> {
  const known = published.flatMap(({ caughtUpToMs, ...of }) =>
    caughtUpToMs === null ? [] : [{ ...of, at: new Date(caughtUpToMs).toISOString() }],
  )
  await sql`
with published as (
  select topic, partition, max(at) as at
  from unnest(
    ${known.map(({ topic }) => topic)}::text[],
    ${known.map(({ partition }) => partition)}::int[],
    ${known.map(({ at }) => at)}::timestamptz[]
  ) as one (topic, partition, at)
  group by topic, partition
)
update shard_watermarks as stored
set published_up_to = greatest(stored.published_up_to, published.at)
from published
where stored.topic = published.topic and stored.partition = published.partition`.execute(db)
  const { rows } = await sql<{ at: number | null }>`
select case when bool_and(published_up_to is not null) then min(published_up_to) end as at
from shard_offsets left join shard_watermarks using (topic, partition)
where topic = any(${topics}::text[])`.execute(db)
  return rows[0]?.at ?? null
}
