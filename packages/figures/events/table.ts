import type { Instant } from '@tally/platform'
import type { ColumnType, Generated } from 'kysely'

declare module '@tally/platform/database' {
  interface Database {
    event_heads: EventHeadTable
    events: EventTable
    removed_events: RemovedEventTable
  }
}

/**
 * One narrow row per event with any record. A batch locks it before reading what is known, and stamps it with its
 * revision (docs/architecture.md, invariant 3).
 */
export type EventHeadTable = {
  event_id: string
  /** The partition of its first record. */
  shard: number
  revision: number
  /** Whether it also has records in other partitions. */
  is_scattered: ColumnType<boolean, boolean | undefined, boolean>
  /** Whether the event was removed: further records of it are ignored. */
  is_removed: ColumnType<boolean, boolean | undefined, boolean>
  /** When the last batch that changed it began. */
  changed_at: Instant
  /** The revision at which its size was last measured (sizes.ts): orders, counters, and the memory of its documents. */
  measured_revision: Generated<number>
  counted_rows: Generated<number>
  redis_bytes: Generated<number>
}

/** An event that was removed, for good. `emptied_at`: when the last of its rows was deleted; null if some are left. */
export type RemovedEventTable = {
  event_id: string
  /** Null if no record of the event had been applied. */
  organization_id: string | null
  removed_at: Instant
  emptied_at: Instant<null>
}

/** The event at its latest version; `document` is the contract's `Event` as JSON. */
export type EventTable = {
  event_id: string
  organization_id: string
  version: number
  time_zone: string
  document: string
}
