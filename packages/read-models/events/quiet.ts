import type { EventId } from '@tally/contract'
import type { Database } from '@tally/storage'
import { type Kysely, type RawBuilder, sql } from 'kysely'

/**
 * Whether an event of `event_heads` has not changed for `quietMs`. Its documents may have expired in Redis: they were
 * written after its last change and live for `quietMs`. Those of any other event cannot have.
 */
export const isQuiet = (quietMs: number): RawBuilder<boolean> =>
  sql<boolean>`changed_at < now() - ${quietMs} * interval '1 millisecond'`

/** The same for one event; false if it is unknown. */
export async function readIsQuiet(db: Kysely<Database>, eventId: EventId, quietMs: number): Promise<boolean> {
  const { rows } = await sql<{ quiet: boolean }>`
select ${isQuiet(quietMs)} as quiet from event_heads where event_id = ${eventId}`.execute(db)
  return rows[0]?.quiet ?? false
}
