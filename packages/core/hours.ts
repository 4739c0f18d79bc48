import type { EpochMs } from '@tally/contract'
import { getOrInsertComputed } from './getOrInsertComputed.ts'

const hourMs = 3_600_000
/** Hours kept per zone: more than a year. */
const rememberedHours = 10_000

/**
 * The hour of day (0 to 23) of an instant in one time zone. If the zone's offset is the same at both ends of an hour
 * (almost always), this is arithmetic; only around a clock change does it ask Intl for each instant.
 */
export type HourOf = (at: EpochMs) => number

const zones = new Map<string, HourOf>()

/** The `HourOf` of an IANA zone; created once per zone, because Intl formatters are expensive to create. */
export function hourIn(timeZone: string): HourOf {
  return getOrInsertComputed(zones, timeZone, () => makeHourOf(timeZone))
}

function makeHourOf(timeZone: string): HourOf {
  const offsetAt = makeOffsetAt(timeZone)
  const offsets = new Map<number, number | undefined>()

  /** The offset during the whole hour that begins at `start`; undefined if it changes. */
  const offsetDuring = (start: number): number | undefined => {
    if (offsets.has(start)) return offsets.get(start)
    const atStart = offsetAt(start)
    const offset = atStart === offsetAt(start + hourMs) ? atStart : undefined
    if (offsets.size >= rememberedHours) offsets.clear()
    offsets.set(start, offset)
    return offset
  }

  return at => {
    const local = at + (offsetDuring(at - (at % hourMs)) ?? offsetAt(at))
    return ((Math.floor(local / hourMs) % 24) + 24) % 24
  }
}

/** Offset from UTC in milliseconds at an instant; zones of the early 1970s had offsets with seconds. */
function makeOffsetAt(timeZone: string): (at: number) => number {
  if (timeZone === 'UTC') return () => 0
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return at => {
    const part: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(at)) part[type] = Number(value)
    const local = Date.UTC(
      part.year ?? 0,
      (part.month ?? 1) - 1,
      part.day,
      part.hour,
      part.minute,
      part.second,
    )
    return local - Math.floor(at / 1000) * 1000
  }
}
