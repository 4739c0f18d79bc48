import type { EventId } from '@tally/contract'
import type { Database } from '@tally/platform'
import { type Kysely, type RawBuilder, sql } from 'kysely'

/**
 * Whether an event of `event_heads` has not changed for `quietMs`, or has no record yet. Its documents may be missing
 * in Redis: they were written after its last change and live for `quietMs`, and without a record there are none.
 * Those of any other event cannot be.
 */
export const isQuiet = (quietMs: number): RawBuilder<boolean> => sql<boolean>`(
  changed_at < now() - ${quietMs} * interval '1 millisecond'
  or not is_removed and not exists (select from events where events.event_id = event_heads.event_id)
)`

/** The same for one event; false if it is unknown. */
export async function readIsQuiet(db: Kysely<Database>, eventId: EventId, quietMs: number): Promise<boolean> {
  const { rows } = await sql<{ quiet: boolean }>`
select ${isQuiet(quietMs)} as quiet from event_heads where event_id = ${eventId}`.execute(db)
  return rows[0]?.quiet ?? false
}
