import type { AreaKey } from '../counterRows.ts'

/**
 * What Redis lacks of an event: everything (`whole`), or the documents of some (day, area), and possibly the event's
 * record, that changed from revision `since` to revision `to`.
 */
export type Unpublished =
  | { whole: true }
  | { whole: false; since: number; to: number; areas: Map<string, AreaKey>; event: boolean }
