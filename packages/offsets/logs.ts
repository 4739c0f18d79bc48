import type { LogPosition } from '@tally/kafka'
import type { Database, Postgres, Tx } from '@tally/platform'
import { type Kysely, sql } from 'kysely'
import type { StallState } from './table.ts'

export type Stall = { state: StallState; sinceMs: number; message: string }

/** What is stored of a partition: its position, and whether it is stalled. */
export type StoredLog = LogPosition & { stall: Stall | null }

/** What is stored of all partitions of these topics. */
export async function readLogs(db: Kysely<Database>, topics: string[]): Promise<StoredLog[]> {
  const rows = await db
    .selectFrom('shard_offsets as stored')
    .leftJoin('partition_logs as log', join =>
      join.onRef('log.topic', '=', 'stored.topic').onRef('log.partition', '=', 'stored.partition'),
    )
    .select([
      'stored.topic',
      'stored.partition',
      'stored.next_offset',
      'stored.fingerprint',
      'stored.fingerprint_offset',
      'log.topic_id',
      'log.state',
      'log.since',
      'log.message',
    ])
    .where('stored.topic', 'in', topics)
    .orderBy('stored.topic')
    .orderBy('stored.partition')
    .execute()
  return rows.map(({ topic, partition, next_offset, topic_id, state, since, message, ...row }) => ({
    topic,
    partition,
    nextOffset: next_offset,
    topicId: topic_id,
    fingerprint: row.fingerprint,
    fingerprintOffset: row.fingerprint_offset,
    stall: state === null ? null : { state, sinceMs: since ?? 0, message: message ?? '' },
  }))
}

type Partition = { topic: string; partition: number }

/** Moves partitions that have never applied a record to the start of their logs. Returns those that were moved. */
export async function beginAtLogStart(
  db: Postgres,
  partitions: (Partition & { start: number })[],
): Promise<(Partition & { start: number })[]> {
  const { rows } = await sql<Partition & { start: number }>`
update shard_offsets as stored
set next_offset = log.start
from unnest(
  ${partitions.map(({ topic }) => topic)}::text[],
  ${partitions.map(({ partition }) => partition)}::int[],
  ${partitions.map(({ start }) => start)}::bigint[]
) as log (topic, partition, start)
where stored.topic = log.topic and stored.partition = log.partition and stored.next_offset = 0
  and not exists (
    select from partition_logs as known
    where known.topic = stored.topic and known.partition = stored.partition and known.topic_id is not null
  )
returning stored.topic, stored.partition, stored.next_offset as start`.execute(db)
  return rows
}

/** Stores which log each partition is read from; a stored id stays. */
export async function noteTopicIds(
  db: Postgres,
  partitions: (Partition & { topicId: string })[],
): Promise<void> {
  await sql`
insert into partition_logs (topic, partition, topic_id)
select * from unnest(
  ${partitions.map(({ topic }) => topic)}::text[],
  ${partitions.map(({ partition }) => partition)}::int[],
  ${partitions.map(({ topicId }) => topicId)}::text[]
)
order by 1, 2
on conflict (topic, partition) do update set topic_id = excluded.topic_id
where partition_logs.topic_id is null`.execute(db)
}

/** Stores that a partition is stalled, for the commands and the operations page; keeps the time at which that began. */
export async function noteStall(
  db: Postgres,
  { topic, partition }: Partition,
  { state, message }: { state: StallState; message: string },
): Promise<void> {
  await sql`
insert into partition_logs (topic, partition, state, since, message)
values (${topic}, ${partition}, ${state}, now(), ${message})
on conflict (topic, partition) do update
set state = excluded.state, message = excluded.message,
  since = case when partition_logs.state = excluded.state then partition_logs.since else excluded.since end`.execute(
    db,
  )
}

/** Stores that a partition continues. */
export async function clearStall(db: Postgres | Tx, { topic, partition }: Partition): Promise<void> {
  await sql`
update partition_logs set state = null, since = null, message = null
where topic = ${topic} and partition = ${partition}`.execute(db)
}

/** Moves a partition to the offset that an operator chose; `topicId` is the log that the offset belongs to. */
export async function moveOffset(
  tx: Tx,
  { topic, partition }: Partition,
  { next, topicId }: { next: number; topicId: string | undefined },
): Promise<void> {
  await sql`
update shard_offsets set next_offset = ${next}, fingerprint = null, fingerprint_offset = null
where topic = ${topic} and partition = ${partition}`.execute(tx)
  await sql`
insert into partition_logs (topic, partition, topic_id) values (${topic}, ${partition}, ${topicId ?? null})
on conflict (topic, partition) do update
set topic_id = excluded.topic_id, state = null, since = null, message = null`.execute(tx)
}
