import { figuresIn } from './format.js'

/**
 * Date and time at the top of a screen, in the event's time zone, by the server's clock: a television may have another
 * one, and old time zone data. The day of the figures is named if the calendar has another date, as after midnight.
 */
export function createClock(locale, { nowMs, offsetMs }) {
  const [today, clock, date] = ['today', 'clock', 'date'].map(id => document.getElementById(id))
  const formatOf = styles => new Intl.DateTimeFormat(locale, { ...styles, timeZone: 'UTC' })
  const days = formatOf({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
  const minutes = formatOf({ timeStyle: 'short' })
  let atStart = nowMs - performance.now()
  let offset = offsetMs
  let shown

  const local = () => new Date(atStart + performance.now() + offset)
  const put = (target, text) => {
    if (target.textContent !== text) target.textContent = text
  }
  const tick = () => {
    const now = local()
    put(today, days.format(now))
    put(clock, minutes.format(now))
    date.hidden = shown === undefined || shown === now.toISOString().slice(0, 10)
  }
  tick()
  setInterval(tick, 1_000)

  return {
    /** Call it with each beat. */
    heard(beat) {
      atStart = beat.nowMs - performance.now()
      // A beat without a watermark has no offset.
      if (beat.asOfMs !== null) offset = beat.offsetMs
    },
    /** Call it with the date of the figures. */
    showDay(next) {
      shown = next
      put(date, next === '' ? 'This day is no longer listed' : figuresIn(locale).date(next))
      tick()
    },
    /** The time of the event at an instant of the server. */
    timeOf: ms => minutes.format(ms + offset),
  }
}
