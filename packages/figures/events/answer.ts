import { type Event, type EventAnswer, formatTimestamp } from '@tally/contract'
import { currentDay } from '../time/days.ts'

/** The event as the API shows it (docs/api.md, Fields). */
export function composeEvent({
  eventId,
  name,
  startDate,
  days,
}: Pick<Event, 'eventId' | 'name' | 'startDate' | 'days'>): EventAnswer {
  const day = currentDay(days)
  return {
    id: eventId,
    name,
    startDate: formatTimestamp(startDate),
    isOpen: day !== undefined,
    currentDay:
      day === undefined ? null : { id: day.dayId, date: day.date, openedAt: formatTimestamp(day.openedAt) },
  }
}

/** The order of the event list: startDate descending, then id ascending (docs/api.md, Answers). */
export function compareEvents(
  one: Pick<Event, 'eventId' | 'startDate'>,
  other: Pick<Event, 'eventId' | 'startDate'>,
): number {
  return other.startDate - one.startDate || (one.eventId < other.eventId ? -1 : 1)
}
