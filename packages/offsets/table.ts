import type { ColumnType } from 'kysely'

declare module '@tally/platform/database' {
  interface Database {
    shard_offsets: OffsetTable
    shard_watermarks: WatermarkTable
    partition_logs: PartitionLogTable
  }
}

/** How far one topic partition is applied: the fence of exactly-once (docs/architecture.md, invariant 2). */
type OffsetTable = {
  topic: string
  partition: number
  /** The offset of the first record that is not applied. */
  next_offset: number
  /** Revision of the last batch of this partition that changed anything. */
  revision: number
  /** SHA-256 and offset of the last applied record. Null if none was since 0.2.0, or the offset was moved. */
  fingerprint: ColumnType<Buffer | null, Buffer | null | undefined, Buffer | null>
  fingerprint_offset: ColumnType<number | null, number | null | undefined, number | null>
  /**
   * Whether the partition may hold records whose keys belong to other partitions: it was added to a topic that was
   * counted before, or a producer uses a partitioner other than murmur2.
   */
  is_added: ColumnType<boolean, boolean | undefined, boolean>
}

/** Up to when a partition is counted and published; not in shard_offsets, whose rows batches lock. null: unknown. */
type WatermarkTable = {
  topic: string
  partition: number
  /** The watermark of answers: everything that Kafka had about this partition's events up to this time is applied. */
  as_of: Watermark
  /** Everything that Kafka had in this partition up to this time is applied. */
  caught_up_to: Watermark
  /** Everything applied up to this time is published; kept once a partition has `is_added`. */
  published_up_to: Watermark
}

/** Epoch milliseconds when read, an RFC 3339 text when written. */
type Watermark = ColumnType<number | null, string | null, string | null>

/** Why a partition is stalled (docs/reliability.md, Kafka). */
export type StallState = 'gap' | 'recreated' | 'undecodable'

/** Which log a partition is read from, and whether it is stalled. */
type PartitionLogTable = {
  topic: string
  partition: number
  /** Kafka's id of the topic that the stored offset belongs to; null: not known yet. */
  topic_id: string | null
  state: StallState | null
  since: ColumnType<number | null, string | null, string | null>
  /** What happened and which command helps, as in the log. */
  message: string | null
}
