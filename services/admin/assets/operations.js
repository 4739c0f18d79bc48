const everyMs = 10_000

const shown = document.getElementById('operations')
const refreshed = document.getElementById('refreshed')
const clock = new Intl.DateTimeFormat(document.documentElement.dataset.locale, { timeStyle: 'medium' })

/** Whoever has ticked a dead letter, or is about to, keeps what they see. */
const isInUse = () => shown.contains(document.activeElement) || shown.querySelector('input:checked') !== null

/** Shows the page's figures of now. A page of older dead letters, a hidden one and one in use stay as they are. */
async function refresh(signal) {
  if (document.hidden || isInUse()) return
  const answer = await fetch(location.href, { headers: { accept: 'text/html' }, signal })
  // The session has ended.
  if (answer.redirected) return location.reload()
  if (!answer.ok) throw new Error(`the area answered ${answer.status}`)
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  if (isInUse()) return
  shown.replaceChildren(...page.getElementById('operations').childNodes)
  document.dispatchEvent(new Event('refreshed'))
  say('Refreshes every 10 s')
}

let since = new Date()
function say(sentence) {
  since = new Date()
  refreshed.textContent = `${sentence}, last at ${clock.format(since)}.`
}

async function go() {
  const ends = new AbortController()
  // Without an answer, a request would never end.
  const timer = setTimeout(() => ends.abort(), everyMs)
  await refresh(ends.signal).catch(() => {
    refreshed.textContent = `Tally does not answer: shown as of ${clock.format(since)}.`
  })
  clearTimeout(timer)
  setTimeout(go, everyMs)
}

if ('refreshes' in shown.dataset) {
  say('Refreshes every 10 s')
  setTimeout(go, everyMs)
}
