import type { ColumnType } from 'kysely'

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
}

/** The event at its latest version; `document` is the contract's `Event` as JSON. */
export type EventTable = {
  event_id: string
  organization_id: string
  version: number
  time_zone: string
  document: string
}
