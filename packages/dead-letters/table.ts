import type { Instant } from '@tally/platform'
import type { Generated } from 'kysely'

/**
 * A dead letter that `tally dead-letters replay` has sent again; `sent_at` is null while that is under way. The
 * fingerprint tells dead letters with one id apart; it is empty for those that were replayed before it was stored.
 */
export type ReplayedDeadLetterTable = {
  letter_id: string
  fingerprint: Generated<Buffer>
  started_at: Instant
  sent_at: Instant<null>
}

declare module '@tally/platform/database' {
  interface Database {
    replayed_letters: ReplayedDeadLetterTable
  }
}
