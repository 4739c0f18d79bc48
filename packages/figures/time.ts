import { type EpochMs, type EventDay, offsetIn } from '@tally/contract'

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

/** The length of an order bucket: few orders of one event share a bucket, even at its peak. */
export const orderBucketMs = 5 * 60_000

/**
 * The bucket by which the order list finds its pages (table `order_buckets`): whole ones since 1970, the same in every
 * time zone; below 2^31 up to the year 9999.
 */
export function orderBucketOf(at: EpochMs): number {
  return Math.floor(at / orderBucketMs)
}

const hourMs = 3_600_000

/** The hour of day (0 to 23) of an instant in one time zone. */
export type HourOf = (at: EpochMs) => number

/** The `HourOf` of an IANA zone, from 1970 to 9999. Throws if the time zone data do not have the zone. */
export function hourIn(timeZone: string): HourOf {
  const offsetAt = offsetIn(timeZone)
  return at => (Math.floor((at + offsetAt(at)) / hourMs) + 24) % 24
}

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
