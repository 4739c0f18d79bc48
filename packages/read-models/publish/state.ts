import type { EventId } from '@tally/contract'
import type { Postgres } from '@tally/storage'
import { sql } from 'kysely'
import { areasAsJson, parseAreas, withAsked } from '../documents/counters.ts'
import { type Documents, documentsOf } from '../documents/documents.ts'
import { views } from '../documents/names.ts'
import { type EventHead, storedEvent } from '../events/reader.ts'
import type { Unpublished } from './unpublished.ts'

/** An event as it is in Postgres, with what Redis lacks of it; `event` is undefined if Redis has the record. */
export type EventState = EventHead & { documents: Documents }

/** Reads what is not yet published of these events, all at one moment; the statement is the snapshot. */
export async function readUnpublished(
  db: Postgres,
  unpublished: Map<EventId, Unpublished>,
): Promise<EventState[]> {
  const entries = [...unpublished]
  const events = entries.flatMap(([id, entry]) => (entry.whole ? [id] : []))
  const areas = entries.flatMap(([, entry]) => (entry.whole ? [] : [...entry.areas.values()]))
  const withRecord = entries.flatMap(([id, entry]) => (entry.whole || entry.event ? [id] : []))
  const { rows } = await sql<{
    eventId: EventId
    shard: number
    revision: number
    isScattered: boolean
    epoch: number | null
    timeZone: string | null
    document: string | null
    areas: string | null
  }>`
${withAsked({ events, areas })}
select head.event_id as "eventId", head.shard, head.revision, head.is_scattered as "isScattered",
  (select current_epoch()) as epoch, event.time_zone as "timeZone",
  case when head.event_id = any(${withRecord}::uuid[]) then event.document end as document,
  (select ${areasAsJson(views)} from asked where asked.event_id = head.event_id) as areas
from event_heads as head left join events as event using (event_id)
where head.event_id = any(${entries.map(([id]) => id)}::uuid[])`.execute(db)
  return rows.map(({ eventId, shard, revision, epoch, isScattered, document, areas, timeZone }) => ({
    eventId,
    shard,
    revision,
    epoch,
    event: storedEvent({ document, shard, isScattered }),
    documents: documentsOf(parseAreas(areas), timeZone),
  }))
}
