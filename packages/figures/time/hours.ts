import { type EpochMs, offsetIn } from '@tally/contract'

const hourMs = 3_600_000

/** The hour of day (0 to 23) of an instant in one time zone. */
export type HourOf = (at: EpochMs) => number

/** The `HourOf` of an IANA zone, from 1970 to 9999. Throws if the time zone data do not have the zone. */
export function hourIn(timeZone: string): HourOf {
  const offsetAt = offsetIn(timeZone)
  return at => (Math.floor((at + offsetAt(at)) / hourMs) + 24) % 24
}
