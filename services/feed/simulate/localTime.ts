const formats = new Map<string, Intl.DateTimeFormat>()

/**
 * The time (milliseconds since 1970) at which clocks in `timeZone` show `minutes` after midnight of `date`
 * (YYYY-MM-DD). Minutes beyond 1440 are the small hours of the next day.
 */
export function localTime(date: string, minutes: number, timeZone: string): number {
  const wanted = Date.parse(`${date}T00:00:00Z`) + minutes * 60_000
  // Twice: the first guess may be on the other side of a clock change.
  const guess = wanted - offsetMs(wanted, timeZone)
  return wanted - offsetMs(guess, timeZone)
}

/** The date `days` days after `date`, both YYYY-MM-DD. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}

/** A time as records write it: RFC 3339 in UTC, whole seconds (docs/records.md, Values). */
export function timestampOf(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`
}

function offsetMs(atMs: number, timeZone: string): number {
  let format = formats.get(timeZone)
  if (format === undefined) {
    const twoDigits = {
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    } as const
    format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', year: 'numeric', ...twoDigits })
    formats.set(timeZone, format)
  }
  const parts = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - atMs
}
