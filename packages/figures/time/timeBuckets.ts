import type { EpochMs } from '@tally/contract'

export const quarterMs = 15 * 60_000
const minuteMs = 60_000
const halfMinuteMs = 30_000

/** From here on clocks change only on quarter hours; at Casey (Antarctica) they changed at 00:01 until October 2022. */
const quartersSince = Date.UTC(2023, 0, 1)
/** From here on offsets are multiples of 15 minutes; Kiritimati's was 10:40 until 1979, Monrovia's had seconds. */
const minutePastSince = Date.UTC(1980, 0, 1)

/**
 * The start of the UTC time bucket that an instant lies in. Orders are counted by time bucket, and the local hour is
 * derived from the bucket's start when a document is composed, so that counters never depend on a time zone or on the
 * version of the time zone data. No bucket may therefore span two local hours in any zone. From 2023 on, 15 minutes are
 * short enough; from 1980 on, the first minute of each quarter is a bucket of its own, because clocks changed at 00:01;
 * before 1980, a bucket is 30 s.
 */
export function bucketStart(at: EpochMs): EpochMs {
  if (at < minutePastSince) return (at - (at % halfMinuteMs)) as EpochMs
  const intoQuarter = at % quarterMs
  const quarter = at - intoQuarter
  return (at >= quartersSince || intoQuarter < minuteMs ? quarter : quarter + minuteMs) as EpochMs
}
