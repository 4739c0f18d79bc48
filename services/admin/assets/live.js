import { openHoursChart } from './hours.js'
import { openMarks } from './marks.js'
import { showStatus } from './status.js'
import { follow } from './stream.js'

const live = document.getElementById('live')
const isLink = live.dataset.kind === 'link'
const by = id => document.getElementById(id)
const { locale } = document.documentElement.dataset
const euros = new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR' })
const whole = new Intl.NumberFormat(locale)
const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
const chart = by('hours-chart') && openHoursChart(by('hours-chart'))
const mark = openMarks()
const statusNames = {
  PreOrder: 'Pre-order',
  Pending: 'Pending',
  Paid: 'Paid',
  Preparing: 'Preparing',
  ReadyForPickup: 'Ready for pickup',
  Completed: 'Completed',
  Cancelled: 'Cancelled',
}

/** Makes an element; strings become text, never markup. */
function element(name, className, ...children) {
  const made = document.createElement(name)
  if (className) made.className = className
  made.append(...children)
  return made
}

/** Sets a text if it changes, and marks the number if it has changed before. */
function put(id, text) {
  const target = by(id)
  if (target.textContent === text) return
  if (target.dataset.isKnown) mark(target)
  target.dataset.isKnown = 'yes'
  target.textContent = text
}

/** The names of what is shown come with the figures, so that they always belong together. */
function showNames({ eventName, date, openDay }) {
  by('event').textContent = eventName
  by('date').textContent = date === '' ? 'This day is no longer listed' : dates.format(new Date(date))
  document.title = `${eventName} · Tally`
  const offer = by('open-day')
  // The stream of a link goes on with the day that is open.
  offer.hidden = openDay === null || isLink
  if (offer.hidden) return
  offer.querySelector('span').textContent = `${dates.format(new Date(openDay.date))} is open now.`
  offer.querySelector('a').href = `/live?eventId=${live.dataset.event}&day=${openDay.dayId}`
}

function showDay(day) {
  const { kpis, hours, best, returned, counts, statuses } = day
  showNames(day)
  put('sales', euros.format(kpis.totalSales))
  put('orders', whole.format(kpis.totalOrders))
  put('items', whole.format(kpis.totalItemsSold))
  put('average', euros.format(kpis.averageOrderValue))
  chart.show(hours)
  by('hours-rows').replaceChildren(
    ...hours.map(({ hour, orderCount, revenue }) => {
      const head = element('th', '', `${String(hour).padStart(2, '0')}:00`)
      head.scope = 'row'
      return element(
        'tr',
        '',
        head,
        element('td', '', whole.format(orderCount)),
        element('td', '', euros.format(revenue)),
      )
    }),
  )
  by('best').replaceChildren(...(best.length === 0 ? [nothing('li')] : best.map(bestRow(best))))
  by('returned-part').hidden = returned.length === 0
  by('returned').replaceChildren(...returned.map(item => element('li', '', ...itemCells(item))))
  by('counts').replaceChildren(...(counts.length === 0 ? [nothing('li')] : counts.map(countRow)))
  by('statuses').replaceChildren(
    ...(statuses === null ? [nothing('dd', 'Not available right now')] : statusRows(statuses)),
  )
}

const nothing = (name, text = 'Nothing sold yet') => element(name, 'faint', text)

const bestRow = best => {
  const most = Math.max(...best.map(({ quantity }) => quantity))
  return item => {
    const bar = element('span', 'bar')
    bar.style.setProperty('--share', String(item.quantity / most))
    bar.setAttribute('aria-hidden', 'true')
    return element('li', '', ...itemCells(item), bar)
  }
}

const itemCells = ({ itemName, quantity, revenue }) => [
  element('span', 'name', itemName),
  element('span', 'faint', euros.format(revenue)),
  element('strong', '', whole.format(quantity)),
]

function countRow({ itemName, quantitySold, quantityRefunded }) {
  const row = element(
    'li',
    '',
    element('span', 'name', itemName),
    element('strong', '', whole.format(quantitySold)),
  )
  if (quantityRefunded > 0) row.append(element('span', 'faint', `${whole.format(quantityRefunded)} refunded`))
  return row
}

const statusRows = statuses =>
  Object.entries(statusNames).map(([status, name]) =>
    element('div', '', element('dt', '', name), element('dd', '', whole.format(statuses[status]))),
  )

const hasDay = by('sales') !== null
const status = showStatus(locale)
follow(live.dataset.stream, {
  day(day) {
    // The page of an event without a day has no place for figures: it is opened again as soon as there is one.
    if (!hasDay) return location.reload()
    showDay(day)
    status.shows(day)
  },
  beat: status.heard,
  failed: () => hasDay && status.failed(),
  hidden: () => hasDay && status.hidden(),
  over() {
    const here = encodeURIComponent(location.pathname + location.search)
    // The page of a link says that it has ended; the sign-in leads back here if the session has not.
    if (isLink) location.reload()
    else location.assign(`/sign-in?next=${here}`)
  },
})

const setHall = isOn => {
  document.body.classList.toggle('hall', isOn)
  by('full-screen').textContent = isOn ? 'Leave full screen' : 'Full screen'
  by('full-screen').setAttribute('aria-pressed', String(isOn))
}
by('full-screen').addEventListener('click', async () => {
  const isOn = !document.body.classList.contains('hall')
  setHall(isOn)
  // Phones may not support full screen; the large figures are shown anyway.
  if (isOn) await document.documentElement.requestFullscreen?.().catch(() => undefined)
  else if (document.fullscreenElement) await document.exitFullscreen()
})
document.addEventListener('fullscreenchange', () => setHall(document.fullscreenElement !== null))
