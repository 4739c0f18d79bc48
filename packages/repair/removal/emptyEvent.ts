import type { EventId } from '@tally/contract'
import type { Postgres } from '@tally/platform'
import { sql } from 'kysely'
import { eventTables } from '../fromKafka/shadow.ts'

/** Rows per transaction: tens of milliseconds of work. */
const pieceSize = 5_000

/** Deletes all rows of a removed event piece by piece, and notes the end. Yields how many orders each piece had. */
export async function* emptyEvent(db: Postgres, eventId: EventId): AsyncGenerator<number> {
  for (const table of eventTables) {
    for (let deleted = pieceSize; deleted === pieceSize; ) {
      deleted = await deletePiece(db, table, eventId)
      yield table === 'orders' ? deleted : 0
    }
  }
  await sql`update removed_events set emptied_at = now() where event_id = ${eventId}`.execute(db)
}

async function deletePiece(db: Postgres, table: string, eventId: EventId): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
delete from ${sql.id(table)}
where ctid = any(array(select ctid from ${sql.id(table)} where event_id = ${eventId} limit ${pieceSize}))`.execute(
    db,
  )
  return Number(numAffectedRows)
}
