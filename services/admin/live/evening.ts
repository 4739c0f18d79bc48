import type { EpochMs, EventDay } from '@tally/contract'
import { hourIn } from '@tally/figures'

const hourMs = 3_600_000
const clockMs = 24 * hourMs

/** When a day was open: until `asOfMs` if it still is. `day` is undefined if the event does not list it. */
type Opening = {
  day: Pick<EventDay, 'openedAt' | 'closedAt'> | undefined
  timeZone: string
  asOfMs: number | null
}

/**
 * The hours of a day as its evening ran, 00:00 after 23:00. They begin after the longest pause between hours in which
 * the day was open or has orders. That is the hour of opening, or one before it if orders came earlier; a long pause
 * between lunch and dinner is within the opening. Of equal pauses the one before the opening counts.
 */
export function eveningOf<Hour extends { hour: number }>(hours: Hour[], opening: Opening): Hour[] {
  const places = new Map(eveningHours(hours, opening).map((hour, place) => [hour, place]))
  const placeOf = ({ hour }: Hour) => places.get(hour) ?? 0
  return hours.toSorted((one, other) => placeOf(one) - placeOf(other))
}

/** The hours in which the day was open or that are given, as its evening ran; of a closed day up to the last given. */
export function eveningHours(hours: { hour: number }[], opening: Opening): number[] {
  const open = openHours(opening)
  const given = hours.map(({ hour }) => hour)
  const present = new Set([...open, ...given])
  if (present.size === 0) return []
  const clockwise = [...present].sort(byDistanceFrom(open[0] ?? 0))
  const pauses = clockwise.map((hour, index) => ({
    hour,
    pause: distance(clockwise.at(index - 1) ?? hour, hour),
  }))
  const first = pauses.reduce((longest, next) => (next.pause > longest.pause ? next : longest)).hour
  const evening = clockwise.toSorted(byDistanceFrom(first))
  const last = evening.findLastIndex(hour => given.includes(hour))
  return last >= 0 && typeof opening.day?.closedAt === 'number' ? evening.slice(0, last + 1) : evening
}

/**
 * The local hours from the opening to the end, the opening's first. After 24 hours the clock no longer tells what is
 * within: only the opening's, because days may be left open.
 */
function openHours({ day, timeZone, asOfMs }: Opening): number[] {
  if (day === undefined) return []
  const end = Math.max(day.openedAt, day.closedAt ?? asOfMs ?? 0)
  const lengthMs = end - day.openedAt
  const steps = lengthMs < clockMs ? Math.floor(lengthMs / hourMs) : 0
  const instants = Array.from({ length: steps + 1 }, (_, index) => day.openedAt + index * hourMs)
  const hourOf = hourIn(timeZone)
  return instants.map(at => hourOf(at as EpochMs))
}

/** Hours on the clock from one hour to another. */
const distance = (from: number, to: number): number => (to - from + 24) % 24

const byDistanceFrom = (first: number) => (one: number, other: number) =>
  distance(first, one) - distance(first, other)
