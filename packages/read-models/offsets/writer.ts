import type { Postgres, Tx } from '@tally/storage'
import { sql } from 'kysely'
import type { Seen } from '../database.ts'

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

/**
 * Locks a partition's row until the transaction ends and returns the offset of the first record that is not
 * applied. The holder of this lock is the only one that applies this partition (docs/architecture.md, invariant 2).
 */
export async function lockOffset(
  tx: Tx,
  topic: string,
  partition: number,
): Promise<{ next: number; revision: number; isAdded: boolean }> {
  const row = await tx
    .selectFrom('shard_offsets')
    .select(['next_offset', 'revision', 'is_added'])
    .where('topic', '=', topic)
    .where('partition', '=', partition)
    .forUpdate()
    .executeTakeFirst()
  // A restored database may lack the row (the SQLSTATE means "not ready"); the watch inserts it again.
  if (row === undefined)
    throw Object.assign(new Error(`no offset is stored for partition ${partition} of ${topic}`), {
      code: '55000',
    })
  return { next: row.next_offset, revision: row.revision, isAdded: row.is_added }
}

/**
 * Stores where the next batch begins, the batch's revision if it changed anything, and whether the partition holds
 * records that belong to another one.
 */
export async function storeOffset(
  tx: Tx,
  {
    topic,
    partition,
    next,
    revision,
    last,
    isAdded = false,
  }: {
    topic: string
    partition: number
    next: number
    revision: number | undefined
    /** The last record of the batch, if there was one. */
    last?: { fingerprint: Buffer; offset: number } | undefined
    isAdded?: boolean
  },
): Promise<void> {
  await tx
    .updateTable('shard_offsets')
    .set({
      next_offset: next,
      ...(revision === undefined ? {} : { revision }),
      ...(last === undefined ? {} : { fingerprint: last.fingerprint, fingerprint_offset: last.offset }),
      ...(isAdded ? { is_added: true } : {}),
    })
    .where('topic', '=', topic)
    .where('partition', '=', partition)
    .execute()
}

/**
 * One revision from the sequence; take it only after every lock is held, so that revisions grow in the order of the
 * commits.
 */
export async function nextRevision(tx: Tx): Promise<number> {
  const { rows } = await sql<{ revision: number }>`select nextval('revisions') as revision`.execute(tx)
  return (rows[0] as { revision: number }).revision
}

/**
 * Opens an epoch at or above the highest one that this process has seen (the database's clock may have been ahead),
 * unless one is open; new connections do that automatically. Returns the epoch (migrations/0007-epochs.ts).
 */
export async function openEpoch(db: Postgres, { epoch, revision }: Seen): Promise<number> {
  const { rows } = await sql<{ epoch: number }>`select open_epoch(${epoch}, ${revision}) as epoch`.execute(db)
  return (rows[0] as { epoch: number }).epoch
}
