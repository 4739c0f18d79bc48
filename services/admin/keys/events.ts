import type { EpochMs, EventId, OrganizationId } from '@tally/contract'
import { compareEvents, currentDay, type ListedEvent, readEventsOf, readLastSales } from '@tally/figures'
import type { Postgres } from '@tally/platform'
import type { FastifyRequest } from 'fastify'
import { formatOf } from '../http/locale.ts'
import { sessionOf } from '../signIn/guard.ts'
import type { Format } from '../views/format.ts'

/** An organization's events as the pages list them: open ones first, then the latest. */
export async function eventsOf(db: Postgres, organizationId: OrganizationId): Promise<ListedEvent[]> {
  const events = (await readEventsOf(db, organizationId)).toSorted(compareEvents)
  const isOpen = ({ days }: ListedEvent) => currentDay(days) !== undefined
  return [...events.filter(isOpen), ...events.filter(event => !isOpen(event))]
}

/** An event with the time of its last sale; null if it has not sold anything. */
export type ActiveEvent = ListedEvent & { lastSaleAt: EpochMs | null }

/** The events of `eventsOf` with their last sales. */
export async function activeEventsOf(db: Postgres, organizationId: OrganizationId): Promise<ActiveEvent[]> {
  const [events, lastSales] = await Promise.all([
    eventsOf(db, organizationId),
    readLastSales(db, organizationId),
  ])
  return events.map(event => withSale(event, lastSales))
}

const withSale = (event: ListedEvent, lastSales: Map<EventId, EpochMs>): ActiveEvent => ({
  ...event,
  lastSaleAt: lastSales.get(event.eventId) ?? null,
})

/** What follows an event's name in a list: its dates and its activity, by which events of the same name differ. */
export function eventFacts({ timeZone, days, lastSaleAt }: ActiveEvent, format: Format): string {
  const dates = days.map(({ date }) => date).toSorted()
  const [first, last] = [dates.at(0), dates.at(-1)]
  return [
    '',
    ...(first === undefined || last === undefined ? [] : [format.dates(first, last)]),
    ...(currentDay(days) === undefined ? [] : ['open']),
    lastSaleAt === null ? 'nothing sold yet' : `last sale ${format.time(lastSaleAt, timeZone)}`,
  ].join(' · ')
}

/** The events (eventsOf) of the session's organization; equal names are followed by what tells them apart. */
export async function namedEventsOf(db: Postgres, request: FastifyRequest): Promise<ListedEvent[]> {
  const { organizationId } = sessionOf(request)
  const events = await eventsOf(db, organizationId)
  const byName = Map.groupBy(events, ({ name }) => name)
  if (byName.size === events.length) return events
  const lastSales = await readLastSales(db, organizationId)
  const format = formatOf(request)
  return events.map(event => {
    const isAlone = byName.get(event.name)?.length === 1
    // Isolated, because an option has no elements: dates after a Hebrew name would be read from the right.
    const label = () => `\u2068${event.name}\u2069${eventFacts(withSale(event, lastSales), format)}`
    return isAlone ? event : { ...event, name: label() }
  })
}

/** An event's name, or its id if it is not known. */
export const eventName = (events: ListedEvent[], id: EventId): string =>
  events.find(({ eventId }) => eventId === id)?.name ?? id
