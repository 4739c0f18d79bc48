import { sql } from 'kysely'
import type { Tx } from '../postgres/database.ts'
import type { Postgres } from '../postgres/pool.ts'

/** Makes the rows of newly assigned partitions; those that are there stay. */
export async function ensureOffsets(db: Postgres, topic: string, partitions: number[]): Promise<void> {
  await sql`
insert into shard_offsets (topic, partition)
select ${topic}, partition from unnest(${partitions}::int[]) as partition
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
  }: { topic: string; partition: number; next: number; revision: number | undefined },
): Promise<void> {
  await tx
    .updateTable('shard_offsets')
    .set({ next_offset: next, ...(revision === undefined ? {} : { revision }) })
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
 * Raises `as_of` to the mark's moment wherever everything up to the mark's end is applied. It never goes back
 * (decisions.md, Answers). A lost write of this kind is made good by the next one, so it need not reach the disk.
 */
export async function raiseAsOf(db: Postgres, marks: EndMark[]): Promise<void> {
  const sorted = marks.toSorted((one, other) =>
    one.topic < other.topic ? -1 : one.topic > other.topic ? 1 : one.partition - other.partition,
  )
  await db.transaction().execute(async tx => {
    await sql`set local synchronous_commit = off`.execute(tx)
    await sql`
update shard_offsets as stored
set as_of = greatest(stored.as_of, mark.at)
from unnest(
  ${sorted.map(({ topic }) => topic)}::text[],
  ${sorted.map(({ partition }) => partition)}::int[],
  ${sorted.map(({ end }) => end)}::bigint[],
  ${sorted.map(({ atMs }) => new Date(atMs).toISOString())}::timestamptz[]
) as mark (topic, partition, end_offset, at)
where stored.topic = mark.topic and stored.partition = mark.partition and stored.next_offset >= mark.end_offset`.execute(
      tx,
    )
  })
}
