import { draw } from './draw.js'
import { figuresIn } from './format.js'
import { createMarks } from './marks.js'
import { firstChoice, partsOf } from './parts.js'
import { showStatus } from './status.js'
import { follow } from './stream.js'

const live = document.getElementById('live')
const by = id => document.getElementById(id)
const { locale } = document.documentElement.dataset
const format = figuresIn(locale)
const mark = createMarks()
const tiles = ['sales', 'orders', 'items', 'average']
/** From this many items on they can be searched. */
const searchedItems = 15

const narrow = matchMedia('(max-width: 44rem)')
const chosen = { ...firstChoice, isNarrow: narrow.matches, address: live.dataset.address }
let day
let beat = null

function show() {
  if (day === undefined) return
  const parts = partsOf(day, beat, format, chosen)
  for (const [id, children] of Object.entries(parts)) {
    draw(by(id), children)
    if (tiles.includes(id)) mark(id, children[0], by(id))
  }
  for (const id of ['returned', 'days', 'payments']) by(`${id}-part`).hidden = parts[id].length === 0
}

/** The names of what is shown come with the figures, so that they always belong together. */
function showNames({ eventName, date, opened, openDay }) {
  by('event').textContent = eventName
  by('date').textContent = date === '' ? 'This day is no longer listed' : format.date(date) + opened
  document.title = `${eventName} · Tally`
  const offer = by('open-day')
  offer.hidden = openDay === null
  if (offer.hidden) return
  offer.querySelector('span').textContent = `${format.date(openDay.date)}${openDay.opened} is open now.`
  offer.querySelector('a').href = `${chosen.address}${openDay.dayId}`
}

const hasDay = by('sales') !== null
const status = showStatus(locale)
follow(live.dataset.stream, {
  day(shown) {
    // The page of an event without a day has no place for figures: it is opened again as soon as there is one.
    if (!hasDay) return location.reload()
    day = shown
    showNames(day)
    for (const control of document.querySelectorAll('.switch')) control.hidden = false
    by('search').hidden = day.counts.length < searchedItems
    show()
    status.shows(day)
  },
  beat(heard) {
    beat = heard
    // The day before goes on by the clock, also while nothing is sold.
    if (hasDay) show()
    status.heard(heard)
  },
  failed: () => hasDay && status.failed(),
  hidden: () => hasDay && status.hidden(),
  over() {
    // The sign-in leads back here if the session has not ended.
    location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`)
  },
})

if (hasDay) {
  document.addEventListener('click', ({ target }) => {
    const button = target.closest('.switch button')
    if (button === null) return
    const { name } = button.parentElement.dataset
    chosen[name] = button.value
    for (const one of button.parentElement.children)
      one.setAttribute('aria-pressed', String(one.value === button.value))
    show()
  })
  by('query').addEventListener('input', ({ target }) => {
    chosen.query = target.value
    show()
  })
  // A finger chooses an hour until it taps another place, a mouse while it is there.
  const choose = ({ target }) => {
    const column = target.closest('#hours-chart [data-hour]')
    const hour = column === null ? undefined : Number(column.dataset.hour)
    if (hour === chosen.hour) return
    chosen.hour = hour
    show()
  }
  document.addEventListener('pointerover', choose)
  if (narrow.matches) for (const details of by('counts').querySelectorAll('details')) details.open = false
}

for (const select of document.querySelectorAll('#picker select'))
  select.addEventListener('change', () => select.form.submit())
// A browser that goes back keeps what was chosen last, but the page is of the day before that.
addEventListener('pageshow', () => by('picker')?.reset())

const setHall = isOn => {
  document.body.classList.toggle('hall', isOn)
  by('full-screen').textContent = isOn ? 'Leave full screen' : 'Full screen'
  by('full-screen').setAttribute('aria-pressed', String(isOn))
  // The button is at the foot.
  if (isOn) scrollTo(0, 0)
}
by('full-screen').addEventListener('click', async () => {
  const isOn = !document.body.classList.contains('hall')
  setHall(isOn)
  // Phones may not support full screen; the large figures are shown anyway.
  if (isOn) await document.documentElement.requestFullscreen?.().catch(() => undefined)
  else if (document.fullscreenElement) await document.exitFullscreen()
})
document.addEventListener('fullscreenchange', () => setHall(document.fullscreenElement !== null))
