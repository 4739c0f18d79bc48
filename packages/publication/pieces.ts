import type { EventId } from '@tally/contract'
import type { Postgres } from '@tally/platform'
import { sql } from 'kysely'
import type { Unpublished } from './unpublished.ts'

type Entry = [EventId, Unpublished]

/** Events per snapshot: enough to share its round trips, few enough to keep it short. */
const maxEvents = 20
/** Counter rows per snapshot (one of items holds sixteen): about 10 MB of documents. A larger event is alone. */
const maxRows = 5_000

/** Splits off the first entries that may be composed together; at least one. */
export async function takePieces(db: Postgres, todo: Entry[]): Promise<{ piece: Entry[]; rest: Entry[] }> {
  const first = todo.slice(0, maxEvents)
  const whole = first.filter(([, entry]) => entry.whole).map(([id]) => id)
  const sizes = whole.length < 2 ? new Map<EventId, number>() : await countRows(db, whole)
  let rows = 0
  const end = first.findIndex(([id, entry]) => {
    rows += entry.whole ? (sizes.get(id) ?? 0) : entry.areas.size
    return rows > maxRows
  })
  const count = end < 0 ? first.length : Math.max(1, end)
  return { piece: todo.slice(0, count), rest: todo.slice(count) }
}

async function countRows(db: Postgres, eventIds: EventId[]): Promise<Map<EventId, number>> {
  const { rows } = await sql<{ event_id: EventId; rows: number }>`
select event_id, count(*) as rows
from (select event_id from item_counters union all select event_id from payment_counters) as counter
where event_id = any(${eventIds}::uuid[])
group by event_id`.execute(db)
  return new Map(rows.map(row => [row.event_id, row.rows]))
}
