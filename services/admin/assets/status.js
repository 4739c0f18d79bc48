/** Figures older than this are behind: they are at most 2 s old while the projector keeps up. */
const behindMs = 5_000
/** A beat arrives every second: after this long without one the connection is lost. */
const silentMs = 4_000

/**
 * Shows whether the figures are live, behind or disconnected, with times in the event's time zone; screen readers
 * announce changes.
 */
export function showStatus(locale) {
  const status = document.getElementById('status')
  const text = document.getElementById('status-text')
  const asOf = document.getElementById('as-of')
  const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium', timeZone: 'UTC' })
  const minutes = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone: 'UTC' })
  let heardAt
  let beat

  const say = (state, sentence) => {
    if (status.dataset.state !== state) status.dataset.state = state
    if (text.textContent !== sentence) text.textContent = sentence
  }
  const look = () => {
    if (heardAt === undefined) return
    if (performance.now() - heardAt > silentMs) return say('cut-off', 'Connection lost: retrying')
    const { asOfMs, offsetMs, nowMs } = beat
    if (asOfMs === null) return say('behind', 'Behind: nothing is counted yet')
    asOf.textContent = `counted up to ${clock.format(asOfMs + offsetMs)}`
    if (nowMs - asOfMs > behindMs) say('behind', `Behind: figures as of ${minutes.format(asOfMs + offsetMs)}`)
    else say('live', 'Live')
  }
  setInterval(look, 500)

  return {
    /** Call it with each beat: the figures' watermark, its offset from UTC and the server's time. */
    heard(next) {
      beat = next
      heardAt = performance.now()
      look()
    },
  }
}
