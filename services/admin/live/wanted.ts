import { type EventDay, offsetIn } from '@tally/contract'
import {
  allAreas,
  type DocumentName,
  documentName,
  type StoredEvent,
  trendDays,
  type View,
} from '@tally/figures'

const clockMs = 86_400_000

/** As many dates as the API's sales trend has at most. */
const mostDates = 365

/**
 * The day that a day is compared with: the one of the latest date before its own. Of several days of that date, such as
 * lunch and dinner, the one that opened nearest to the same time of day.
 */
export function dayBefore<Day extends EventDay>(
  { days, timeZone }: { days: Day[]; timeZone: string },
  dayId: number,
): Day | undefined {
  const day = days.find(one => one.dayId === dayId)
  if (day === undefined) return undefined
  const before = trendDays(days, days.length).findLast(({ date }) => date < day.date)?.days ?? []
  const offsetAt = offsetIn(timeZone)
  const openedAtLocal = ({ openedAt }: Day) => openedAt + offsetAt(openedAt)
  const apart = (one: Day) => {
    const difference = Math.abs(openedAtLocal(one) - openedAtLocal(day)) % clockMs
    return Math.min(difference, clockMs - difference)
  }
  return before.toSorted((one, other) => apart(one) - apart(other))[0]
}

/** The dates of an event with their days, ascending. */
export const datesOf = ({ days }: StoredEvent) => trendDays(days, mostDates)

/** The names of one kind of document of these days, over one area or all. */
export const namesOf = (view: View, dayIds: Iterable<number>, areaId = allAreas): DocumentName[] =>
  [...dayIds].map(dayId => documentName(view, dayId, areaId))

/** The documents that a screen of a day needs, over one area or, without one, all. */
export function wantedNames(
  event: StoredEvent,
  { dayId, areaId }: { dayId: number; areaId?: number | undefined },
): DocumentName[] {
  const before = dayBefore(event, dayId)
  const trend = datesOf(event).flatMap(({ days }) => days.map(({ dayId }) => dayId))
  return [
    ...namesOf('kpis', new Set([dayId, ...trend]), areaId),
    ...namesOf('hours', before === undefined ? [dayId] : [dayId, before.dayId], areaId),
    ...namesOf('items', [dayId], areaId),
    ...namesOf('payments', [dayId], areaId),
  ]
}
