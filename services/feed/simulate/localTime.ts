import { offsetIn } from '@tally/contract'

/**
 * The time (milliseconds since 1970) at which clocks in `timeZone` show `minutes` after midnight of `date`
 * (YYYY-MM-DD). Minutes beyond 1440 are the small hours of the next day.
 */
export function localTime(date: string, minutes: number, timeZone: string): number {
  const wanted = Date.parse(`${date}T00:00:00Z`) + minutes * 60_000
  // Twice: the first guess may be on the other side of a clock change.
  const offsetAt = offsetIn(timeZone)
  const guess = wanted - offsetAt(wanted)
  return wanted - offsetAt(guess)
}

/** The date `days` days after `date`, both YYYY-MM-DD. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}

/** A time as records write it: RFC 3339 in UTC, whole seconds (docs/records.md, Values). */
export function timestampOf(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`
}
