import type { Generated } from 'kysely'
import type { Instant } from './instant.ts'

/**
 * A dead letter that `tally dead-letters replay` has sent again; `sent_at` is null while that is under way. The
 * fingerprint tells dead letters with one id apart; it is empty for those that were replayed before it was stored.
 */
export type ReplayedLetterTable = {
  letter_id: string
  fingerprint: Generated<Buffer>
  started_at: Instant
  sent_at: Instant<null>
}

/** A run of `tally rebuild`: events are rebuilt by id ascending, so that a run that was ended goes on behind the last. */
export type RebuildTable = {
  rebuild_id: Generated<number>
  started_at: Instant
  last_event_id: string | null
  finished_at: Instant<null>
}
