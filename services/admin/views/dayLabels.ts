import { type EventDay, offsetIn } from '@tally/contract'
import type { StoredEvent } from '@tally/figures'

/** What tells a day from the others: its date, and the time it opened if others have that date (lunch and dinner). */
export type DayLabel = { date: string; time?: string }

type WithDays = Pick<StoredEvent, 'days' | 'timeZone'>

/** The days of an event by date and opening, with their labels in the event's time zone. */
export function labelledDays({ days, timeZone }: WithDays): (DayLabel & Pick<EventDay, 'dayId'>)[] {
  const byDate = Map.groupBy(days, ({ date }) => date)
  const offsetAt = offsetIn(timeZone)
  const timeOf = (at: number) => new Date(at + offsetAt(at)).toISOString().slice(11, 16)
  return days
    .toSorted(byOpening)
    .map(({ dayId, date, openedAt }) =>
      byDate.get(date)?.length === 1 ? { dayId, date } : { dayId, date, time: timeOf(openedAt) },
    )
}

/** The label of one of them; undefined if the event does not list it. */
export const dayLabel = (event: WithDays, dayId: number | undefined): DayLabel | undefined =>
  labelledDays(event).find(day => day.dayId === dayId)

/** A label as a name, with the date as `write` writes it: `4 Sept 2026 18:00`. */
export const nameOf = ({ date, time }: DayLabel, write = (date: string) => date): string =>
  time === undefined ? write(date) : `${write(date)} ${time}`

/** The name of one of the days of an event; undefined if the event does not list it. */
export function dayName(event: WithDays, dayId: number | undefined, write?: (date: string) => string) {
  const label = dayLabel(event, dayId)
  return label && nameOf(label, write)
}

const byOpening = (one: EventDay, other: EventDay) =>
  one.date === other.date ? one.openedAt - other.openedAt : one.date < other.date ? -1 : 1
