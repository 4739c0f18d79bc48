import { sql } from 'kysely'
import type { Tx } from '../postgres/database.ts'
import type { Postgres } from '../postgres/pool.ts'

/**
 * Makes the rows of newly assigned partitions; those that are there stay. A partition of a topic that was counted
 * before was added to it: it may say what all of the topic's partitions have said.
 */
export async function ensureOffsets(db: Postgres, topic: string, partitions: number[]): Promise<void> {
  await sql`
insert into shard_offsets (topic, partition, is_added, as_of)
select ${topic}, partition, before.is_counted, before.as_of
from unnest(${partitions}::int[]) as partition,
  (
    select
      coalesce(bool_or(as_of is not null), false) as is_counted,
      case when bool_and(as_of is not null) then min(as_of) end as as_of
    from shard_offsets
    where topic = ${topic}
  ) as before
order by partition
on conflict do nothing`.execute(db)
}

/**
 * Locks a partition's row until the transaction ends and returns the offset of the first record that is not
 * applied. Whoever holds this lock is the only one that applies this partition (design.md, invariant 2).
 */
export async function lockOffset(
  tx: Tx,
  topic: string,
  partition: number,
): Promise<{ next: number; revision: number }> {
  const row = await tx
    .selectFrom('shard_offsets')
    .select(['next_offset', 'revision'])
    .where('topic', '=', topic)
    .where('partition', '=', partition)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) throw new Error(`no offset is stored for partition ${partition} of ${topic}`)
  return { next: row.next_offset, revision: row.revision }
}

/** Stores where the next batch begins, and the batch's revision where it changed anything. */
export async function storeOffset(
  tx: Tx,
  {
    topic,
    partition,
    next,
    revision,
    last,
  }: {
    topic: string
    partition: number
    next: number
    revision: number | undefined
    /** The last record of the batch, if there was one. */
    last?: { fingerprint: Buffer; offset: number } | undefined
  },
): Promise<void> {
  await tx
    .updateTable('shard_offsets')
    .set({
      next_offset: next,
      ...(revision === undefined ? {} : { revision }),
      ...(last === undefined ? {} : { fingerprint: last.fingerprint, fingerprint_offset: last.offset }),
    })
    .where('topic', '=', topic)
    .where('partition', '=', partition)
    .execute()
}

/** One revision from the sequence; take it only after every lock is held, so that revisions grow as commits do. */
export async function nextRevision(tx: Tx): Promise<number> {
  const { rows } = await sql<{ revision: number }>`select nextval('revisions') as revision`.execute(tx)
  return (rows[0] as { revision: number }).revision
}

/** At `atMs`, `end` was the end of the partition. */
export type EndMark = { topic: string; partition: number; end: number; atMs: number }

/**
 * Raises `as_of` to the mark's moment wherever everything up to the mark's end is applied, and returns what may be
 * said of those partitions. Once partitions were added, an event's records may lie in any two of them, and nobody
 * may say more than the partition that is furthest behind. It never goes back (decisions.md, Answers). A lost
 * write of this kind is made good by the next one, so it need not reach the disk.
 */
export async function raiseAsOf(db: Postgres, topics: string[], marks: EndMark[]): Promise<PartitionAsOf[]> {
  const sorted = marks.toSorted((one, other) =>
    one.topic < other.topic ? -1 : one.topic > other.topic ? 1 : one.partition - other.partition,
  )
  const mark = sql`unnest(
  ${sorted.map(({ topic }) => topic)}::text[],
  ${sorted.map(({ partition }) => partition)}::int[],
  ${sorted.map(({ end }) => end)}::bigint[],
  ${sorted.map(({ atMs }) => new Date(atMs).toISOString())}::timestamptz[]
) as mark (topic, partition, end_offset, at)`
  return db.transaction().execute(async tx => {
    await sql`set local synchronous_commit = off`.execute(tx)
    await sql`
update shard_offsets as stored
set caught_up_to = greatest(stored.caught_up_to, mark.at)
from ${mark}
where stored.topic = mark.topic and stored.partition = mark.partition and stored.next_offset >= mark.end_offset`.execute(
      tx,
    )
    const { rows } = await sql<PartitionAsOf>`
with every as (
  select
    bool_or(is_added) as has_added,
    case when bool_and(caught_up_to is not null) then min(caught_up_to) end as caught_up_to
  from shard_offsets
  where topic = any(${topics}::text[])
)
update shard_offsets as stored
set as_of = greatest(stored.as_of, case when every.has_added then every.caught_up_to else stored.caught_up_to end)
from every, ${mark}
where stored.topic = mark.topic and stored.partition = mark.partition
returning
  stored.topic,
  stored.partition,
  case when stored.as_of is not null then least(stored.as_of, mark.at) end as "asOfMs",
  case when stored.caught_up_to is not null then least(stored.caught_up_to, mark.at) end as "caughtUpToMs"`.execute(
      tx,
    )
    return rows
  })
}

/**
 * Everything that Kafka had of a partition up to `caughtUpToMs` is counted, and up to `asOfMs` everything of its events, in
 * whichever partition; null: nothing can be said yet.
 */
export type PartitionAsOf = {
  topic: string
  partition: number
  asOfMs: number | null
  caughtUpToMs: number | null
}

/**
 * Notes that these partitions are published up to where they had caught up, and returns up to when all of these topics'
 * partitions are; null while one has not said so. What Redis may say once partitions were added: a document has what all
 * of its event's partitions have published, whoever reads them.
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
with moments as (
  select topic, partition, max(at) as at
  from unnest(
    ${known.map(({ topic }) => topic)}::text[],
    ${known.map(({ partition }) => partition)}::int[],
    ${known.map(({ at }) => at)}::timestamptz[]
  ) as moment (topic, partition, at)
  group by topic, partition
)
update shard_offsets as stored
set published_up_to = greatest(stored.published_up_to, moments.at)
from moments
where stored.topic = moments.topic and stored.partition = moments.partition`.execute(db)
  const { rows } = await sql<{ at: number | null }>`
select case when bool_and(published_up_to is not null) then min(published_up_to) end as at
from shard_offsets
where topic = any(${topics}::text[])`.execute(db)
  return rows[0]?.at ?? null
}
