import type { ColumnType } from 'kysely'

/**
 * One narrow row for every event that anything is known of: locked by a batch before it reads what is known,
 * and stamped with the batch's revision (docs/architecture.md, invariant 3).
 */
export type EventHeadTable = {
  event_id: string
  /** The partition of its first record. */
  shard: number
  revision: number
  /** Whether it has records in other partitions, too. */
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
