import type { EventId } from '@tally/contract'
import {
  areasAsJson,
  type DocumentScope,
  documentsOf,
  type EventHead,
  parseAreas,
  storedEvent,
  views,
  withAsked,
} from '@tally/figures'
import type { Postgres } from '@tally/platform'
import { sql } from 'kysely'
import type { Unpublished } from './unpublished.ts'

/**
 * An event as it is in Postgres, and the fields (name, text, ...) of the documents that Redis lacks. `event` is
 * undefined if Redis has the record. `isAwaited`: Postgres has no record of the event yet.
 */
export type EventState = Omit<EventHead, 'isRemoved'> & { isAwaited: boolean; documents: string[] }

/**
 * Reads what is not yet published of these events, all at one moment; the statement is the snapshot. A removed event
 * has nothing, even if some of its counters are still to be deleted. The `offset 0` has each record looked up by its
 * key, whatever the planner knows about the tables.
 */
export async function readUnpublished(
  db: Postgres,
  unpublished: Map<EventId, Unpublished>,
): Promise<EventState[]> {
  const entries = [...unpublished]
  const withRecord = entries.flatMap(([id, entry]) => (entry.whole || entry.event ? [id] : []))
  const { rows } = await sql<{
    eventId: EventId
    shard: number
    revision: number
    isScattered: boolean
    epoch: number | null
    timeZone: string | null
    isAwaited: boolean
    document: string | null
    areas: string | null
  }>`
${withAsked(scopeOf(unpublished))}
select head.event_id as "eventId", head.shard, head.revision, head.is_scattered as "isScattered",
  (select current_epoch()) as epoch, event.time_zone as "timeZone",
  event.document is null and not head.is_removed as "isAwaited",
  case when head.event_id = any(${withRecord}::uuid[]) then event.document end as document,
  case when not head.is_removed then
    (select ${areasAsJson(views)} from asked where asked.event_id = head.event_id)
  end as areas
from event_heads as head
left join lateral (
  select time_zone, document from events where event_id = head.event_id offset 0
) as event on true
where head.event_id = any(${entries.map(([id]) => id)}::uuid[])`.execute(db)
  return rows.map(
    ({ eventId, shard, revision, epoch, isScattered, isAwaited, document, areas, timeZone }) => ({
      eventId,
      shard,
      revision,
      epoch,
      isAwaited,
      event: storedEvent({ document, shard, isScattered }),
      documents: [...documentsOf(parseAreas(areas), timeZone)].flat(),
    }),
  )
}

function scopeOf(unpublished: Map<EventId, Unpublished>): DocumentScope {
  const scope: DocumentScope = { events: [], areas: [] }
  for (const [eventId, entry] of unpublished) {
    if (entry.whole) scope.events.push(eventId)
    else scope.areas.push(...entry.areas.values())
  }
  return scope
}
