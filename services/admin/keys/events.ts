import type { EventId, OrganizationId } from '@tally/contract'
import { compareEvents, openDay } from '@tally/core'
import { type ListedEvent, readEventsOf } from '@tally/read-models'
import type { Postgres } from '@tally/storage'

/** An organization's events as the pages list them: open ones first, then the latest. */
export async function eventsOf(db: Postgres, organizationId: OrganizationId): Promise<ListedEvent[]> {
  const events = (await readEventsOf(db, organizationId)).toSorted(compareEvents)
  const isOpen = ({ days }: ListedEvent) => openDay(days) !== undefined
  return [...events.filter(isOpen), ...events.filter(event => !isOpen(event))]
}

/** An event's name, or its id if it is not known. */
export const eventName = (events: ListedEvent[], id: EventId): string =>
  events.find(({ eventId }) => eventId === id)?.name ?? id
