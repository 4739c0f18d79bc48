import { centsOf } from './evening.js'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/**
 * Compares the takings of a day (DayShown) with those of the day before: of an open day, with what that had taken by the
 * same time of day. `clockMs`: up to when the figures are counted, on the event's clock; null if nothing is yet.
 * Undefined without a day before. `cents` are those of the day before. If sales are ahead of the clock, as in a
 * simulated evening, both days are compared `until` the hour of the newest sale. `percent` is undefined if a share says
 * nothing: of nothing, of takings below zero, or of a whole day while one has just begun.
 */
export function compare({ kpis, openedAt, closedAt, evening, hours, before }, clockMs) {
  if (before === null || (closedAt === null && clockMs === null)) return undefined
  const first = evening.length === 0 ? hourOf(openedAt) : evening[0]
  const beganMs = openedAt - (openedAt % hourMs) - apart(first, hourOf(openedAt)) * hourMs
  const isAhead = closedAt === null && clockMs < beganMs
  // A day that was left open has no time of day.
  const isAtThisTime = closedAt === null && !isAhead && clockMs - openedAt < dayMs
  const newest = hours.length === 0 ? first : hours[hours.length - 1].hour
  const until = isAhead && newest !== first ? newest : undefined
  // How much of the newest hour is over is not known.
  const partMs = until === undefined ? clockMs - beganMs : apart(first, until) * hourMs
  const isWhole = until === undefined && !isAtThisTime
  const cents = isWhole ? centsOf(before.totalSales) : centsBy(before.hours, first, partMs)
  const now = until === undefined ? centsOf(kpis.totalSales) : centsBy(hours, first, partMs)
  const isShare = cents > 0 && now >= 0 && !(isAhead && (isWhole || now === 0))
  const percent = isShare ? Math.round(((now - cents) / cents) * 100) + 0 : undefined
  return { cents, isAtThisTime, until, percent, sign: Math.sign(now - cents) }
}

/** What the hours of an evening add up to that began this long ago: of the running one, its share. */
const centsBy = (hours, first, passedMs) =>
  hours.reduce((sum, { hour, revenue }) => {
    const share = Math.min(1, Math.max(0, passedMs / hourMs - apart(first, hour)))
    return sum + centsOf(revenue * share)
  }, 0)

const hourOf = clockMs => Math.floor(clockMs / hourMs) % 24
/** Hours on the clock from one hour to another. */
const apart = (from, to) => (to - from + 24) % 24
