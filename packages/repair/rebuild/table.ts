import type { Instant } from '@tally/platform'
import type { Generated } from 'kysely'

/** A run of `tally rebuild`: events are rebuilt by id ascending, so an interrupted run continues after the last. */
export type RebuildTable = {
  rebuild_id: Generated<number>
  started_at: Instant
  last_event_id: string | null
  finished_at: Instant<null>
}

declare module '@tally/platform/database' {
  interface Database {
    rebuilds: RebuildTable
  }
}
