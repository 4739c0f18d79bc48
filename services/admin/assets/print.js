// The end-of-day sheet: its button opens the browser's print dialog, and the paper says when that was.
document.getElementById('print').addEventListener('click', () => print())

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
