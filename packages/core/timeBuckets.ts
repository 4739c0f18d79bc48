import type { EpochMs } from '@tally/contract'

const quarterMs = 15 * 60_000
const minuteMs = 60_000
const halfMinuteMs = 30_000

/** From here on no clock changes but at a quarter of an hour; Casey's did at 00:01 until October 2022. */
const quartersSince = Date.UTC(2023, 0, 1)
/** From here on every offset is whole minutes; Monrovia's was 44 minutes and 30 seconds until January 1972. */
const minutesSince = Date.UTC(1973, 0, 1)

/**
 * The start of the UTC time bucket that an instant lies in. Orders are counted by time bucket, and the local hour is
 * made from the bucket's start when a document is composed: what was counted never depends on a time zone, nor on the
 * version of its data. So no bucket may hold two hours of day in any zone; 15 minutes are short enough except in years
 * when clocks changed at odd minutes.
 */
export function bucketStart(at: EpochMs): EpochMs {
  return (at - (at % bucketMs(at))) as EpochMs
}

/** The length of the time bucket that an instant lies in. */
export function bucketMs(at: EpochMs): number {
  if (at >= quartersSince) return quarterMs
  return at >= minutesSince ? minuteMs : halfMinuteMs
}
