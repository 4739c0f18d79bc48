import type { Database } from '@tally/platform'
import type { Kysely } from 'kysely'
import type { StallState } from './logTable.ts'

export type Stall = { state: StallState; sinceMs: number; message: string }

/** Where a partition is read next, what identifies the log that the offset belongs to, and whether it is stalled. */
export type StoredLog = {
  topic: string
  partition: number
  nextOffset: number
  topicId: string | null
  /** Fingerprint of the last applied record. */
  fingerprint: Buffer | null
  fingerprintOffset: number | null
  stall: Stall | null
}

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
