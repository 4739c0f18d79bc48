import type { EpochMs, EventId, OrganizationId } from '@tally/contract'
import { type EventChoice, type EventOverview, readEventList } from '@tally/figures'
import type { Postgres } from '@tally/platform'
import { sql } from 'kysely'

/** An event that can be removed. */
export type RemovableEvent = EventOverview & { eventId: EventId }

/** An event that was removed; without an organization if no record of it had been applied. */
export type RemovedEvent = { eventId: EventId; organizationId: OrganizationId | null }

/** What a removal would remove. `unfinished`: events that an interrupted run has removed and not emptied. */
export type ChosenEvents = {
  events: RemovableEvent[]
  removedBefore: EventId[]
  unfinished: RemovedEvent[]
}

/** Chooses events by id. Throws a sentence if one was never known. */
export async function chooseByIds(db: Postgres, eventIds: EventId[]): Promise<ChosenEvents> {
  const ids = [...new Set(eventIds)]
  const events = await removable(db, { eventIds: ids })
  const removed = await db
    .selectFrom('removed_events')
    .select('event_id')
    .where('event_id', 'in', ids)
    .execute()
  const removedBefore = removed.map(({ event_id }) => event_id as EventId)
  const known = new Set([...events.map(({ eventId }) => eventId), ...removedBefore])
  const unknown = ids.filter(id => !known.has(id))
  if (unknown.length > 0)
    throw new Error(`there is no event ${unknown.join(', nor ')}: see \`tally events list\``)
  return { events, removedBefore, unfinished: await readUnfinished(db) }
}

/** Chooses the events whose start, days and last sale are all before a time. */
export async function chooseByAge(db: Postgres, endedBefore: EpochMs): Promise<ChosenEvents> {
  const events = await removable(db, { endedBefore })
  return { events, removedBefore: [], unfinished: await readUnfinished(db) }
}

/** The time that lies `interval`, as Postgres reads it, before now: by the clock that `asOf` uses too. */
export async function readTimeBefore(db: Postgres, interval: string): Promise<EpochMs> {
  const { rows } = await sql<{ at: EpochMs }>`
select (extract(epoch from now() - ${interval}::interval) * 1000)::bigint as at`.execute(db)
  return (rows[0] as { at: EpochMs }).at
}

async function removable(db: Postgres, choice: EventChoice): Promise<RemovableEvent[]> {
  const events = await readEventList(db, choice)
  return events.filter((event): event is RemovableEvent => event.eventId !== null)
}

async function readUnfinished(db: Postgres): Promise<RemovedEvent[]> {
  const { rows } = await sql<RemovedEvent>`
select event_id as "eventId", organization_id as "organizationId"
from removed_events
where emptied_at is null
order by event_id`.execute(db)
  return rows
}
