import type { ColumnType } from 'kysely'

/** How far one topic partition is applied: the fence of exactly-once (design.md, invariant 2). */
export type OffsetTable = {
  topic: string
  partition: number
  /** The offset of the first record that is not applied. */
  next_offset: number
  /** Revision of the last batch of this partition that changed anything. */
  revision: number
  /** Everything that Kafka had up to this moment is applied. */
  as_of: ColumnType<number | null, string | null, string | null>
}
