/** Figures older than this are behind: they are at most 2 s old while the projector keeps up. */
const behindMs = 5_000
/** A beat arrives every second: after this long without one the connection is lost. */
const silentMs = 4_000

const isNear = (date, at) => Math.abs(at - Date.parse(date) - 24 * 3_600_000) < 24 * 3_600_000

/**
 * Shows whether the figures are live, of a closed day, behind or disconnected, with times in the event's time zone;
 * screen readers announce changes.
 */
export function showStatus(locale) {
  const status = document.getElementById('status')
  const text = document.getElementById('status-text')
  const asOf = document.getElementById('as-of')
  const formatOf = styles => new Intl.DateTimeFormat(locale, { ...styles, timeZone: 'UTC' })
  const clock = formatOf({ timeStyle: 'medium' })
  const minutes = formatOf({ timeStyle: 'short' })
  const moments = formatOf({ dateStyle: 'medium', timeStyle: 'short' })
  let closed = ''
  let silence

  const say = (state, sentence) => {
    if (status.dataset.state !== state) status.dataset.state = state
    if (text.textContent !== sentence) text.textContent = sentence
  }
  const lost = () => {
    silence = undefined
    say('cut-off', 'Connection lost: retrying')
  }

  return {
    /** Call it with each day: its date, and when it was closed, on the event's clock, or null. */
    shows({ date, closedAt }) {
      if (closedAt === null) closed = ''
      // The night after a day still belongs to it.
      else
        closed = isNear(date, closedAt)
          ? `Closed at ${minutes.format(closedAt)}`
          : `Closed on ${moments.format(closedAt)}`
    },
    /** Call it with each beat: the figures' watermark, its offset from UTC and the server's time. */
    heard({ asOfMs, offsetMs, nowMs }) {
      clearTimeout(silence)
      silence = setTimeout(lost, silentMs)
      if (asOfMs === null) return say('behind', 'Behind: nothing is counted yet')
      const isBehind = nowMs - asOfMs > behindMs
      asOf.textContent = isBehind || closed === '' ? `counted up to ${clock.format(asOfMs + offsetMs)}` : ''
      if (isBehind) say('behind', `Behind: figures as of ${minutes.format(asOfMs + offsetMs)}`)
      else if (closed !== '') say('closed', closed)
      else say('live', 'Live')
    },
    /** Call it when an attempt has failed: the next one may succeed before a beat is missed. */
    failed() {
      if (silence === undefined) lost()
    },
    /** Call it when the page is hidden: when it is shown again, the figures are those of before until the next beat. */
    hidden() {
      clearTimeout(silence)
      silence = undefined
      say('', 'Connecting …')
    },
  }
}
