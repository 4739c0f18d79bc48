// The end-of-day sheet: the paper says when it was printed.
import './buttons.js'

const printed = document.getElementById('printed')
const times = new Intl.DateTimeFormat(document.documentElement.dataset.locale, {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
})
// The event's clock when the page was made, and what has passed since: while a computer sleeps, its monotonic clock
// may stand still, so the one that went further is believed.
addEventListener('beforeprint', () => {
  const passed = Math.max(performance.now(), Date.now() - performance.timeOrigin)
  printed.textContent = times.format(Number(printed.dataset.clock) + passed)
})
