import type { EpochMs } from '@tally/contract'

const quarterMs = 15 * 60_000
const minuteMs = 60_000
const halfMinuteMs = 30_000

/** From here on clocks change at a quarter of an hour; Casey's did at one minute past midnight until October 2022. */
const quartersSince = Date.UTC(2023, 0, 1)
/** From here on offsets are whole quarters: Kiritimati's was 10:40 hours until October 1979, Monrovia's had seconds. */
const minutePastSince = Date.UTC(1980, 0, 1)

/**
 * The start of the UTC time bucket that an instant lies in. Orders are counted by time bucket, and the local hour is
 * made from the bucket's start when a document is composed: what was counted never depends on a time zone, nor on the
 * version of its data. So no bucket may hold two hours of day in any zone. A quarter of an hour is short enough since
 * 2023; from 1980 on its first minute is a bucket of its own, because clocks changed at 00:01; before, half a minute.
 */
export function bucketStart(at: EpochMs): EpochMs {
  if (at < minutePastSince) return (at - (at % halfMinuteMs)) as EpochMs
  const intoQuarter = at % quarterMs
  const quarter = at - intoQuarter
  return (at >= quartersSince || intoQuarter < minuteMs ? quarter : quarter + minuteMs) as EpochMs
}
