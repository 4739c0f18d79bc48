import type { EventDay } from '@tally/contract'

/**
 * The day that answers when none is asked for: the open one, else the closed one with the latest closedAt, the
 * higher dayId where equal; undefined where the event lists no day (messages.md section 4).
 */
export function resolveDay<Day extends Pick<EventDay, 'dayId' | 'closedAt'>>(days: Day[]): Day | undefined {
  return (
    openDay(days) ??
    days.reduce<Day | undefined>(
      (last, day) => (last === undefined || isLater(day, last) ? day : last),
      undefined,
    )
  )
}

/** The day that is open now: the one without closedAt, at most one of an event. */
export function openDay<Day extends Pick<EventDay, 'closedAt'>>(days: Day[]): Day | undefined {
  return days.find(({ closedAt }) => closedAt === null)
}

function isLater(
  day: Pick<EventDay, 'dayId' | 'closedAt'>,
  than: Pick<EventDay, 'dayId' | 'closedAt'>,
): boolean {
  const difference = (day.closedAt ?? 0) - (than.closedAt ?? 0)
  return difference > 0 || (difference === 0 && day.dayId > than.dayId)
}
