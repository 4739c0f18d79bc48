import type { EventDay } from '@tally/contract'

/**
 * The default day: the open one, else the one closed last (of two closed at the same time, the higher dayId); undefined
 * if the event lists no day (docs/records.md, The default day).
 */
export function resolveDay<Day extends Pick<EventDay, 'dayId' | 'closedAt'>>(days: Day[]): Day | undefined {
  return (
    currentDay(days) ??
    days.reduce<Day | undefined>(
      (last, day) => (last === undefined || isLater(day, last) ? day : last),
      undefined,
    )
  )
}

/** The day that is open now: the one without closedAt. An event has at most one. */
export function currentDay<Day extends Pick<EventDay, 'closedAt'>>(days: Day[]): Day | undefined {
  return days.find(({ closedAt }) => closedAt === null)
}

function isLater(
  day: Pick<EventDay, 'dayId' | 'closedAt'>,
  than: Pick<EventDay, 'dayId' | 'closedAt'>,
): boolean {
  const difference = (day.closedAt ?? 0) - (than.closedAt ?? 0)
  return difference > 0 || (difference === 0 && day.dayId > than.dayId)
}
