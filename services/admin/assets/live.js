import { backoffMs } from './backoff.js'
import { openHoursChart } from './hours.js'
import { showStatus } from './status.js'

const live = document.getElementById('live')
const by = id => document.getElementById(id)
const { locale } = document.documentElement.dataset
const euros = new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR' })
const whole = new Intl.NumberFormat(locale)
const chart = openHoursChart(by('hours-chart'))
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

/** Sets a text if it changes, and highlights it briefly. */
function put(id, text) {
  const target = by(id)
  if (target.textContent === text) return
  target.textContent = text
  target.classList.remove('changed')
  requestAnimationFrame(() => target.classList.add('changed'))
}

function showDay({ kpis, hours, best, returned, counts, statuses }) {
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
    bar.ariaHidden = 'true'
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

const status = showStatus(locale)
let attempts = 0

/** Opens the stream; after it breaks or is refused, again, with growing pauses until figures arrive. */
function listen() {
  const source = new EventSource(live.dataset.stream)
  source.addEventListener('day', ({ data }) => showDay(JSON.parse(data)))
  source.addEventListener('beat', ({ data }) => {
    attempts = 0
    status.heard(JSON.parse(data))
  })
  source.addEventListener('signed-out', () => {
    source.close()
    const here = encodeURIComponent(location.pathname + location.search)
    // A screen's link may have ended, or another day has begun: its page knows.
    location.assign(live.dataset.endsAt === '/screen' ? '/screen' : `/sign-in?next=${here}`)
  })
  source.addEventListener('error', async () => {
    const isRefused = source.readyState === EventSource.CLOSED
    source.close()
    if (isRefused && (await isPageGone())) location.reload()
    else setTimeout(listen, backoffMs(attempts++))
  })
}

/** Whether the page itself is refused by now: after the session has ended, its reload leads to the sign-in. */
async function isPageGone() {
  const reply = await fetch(location.href, { method: 'HEAD', redirect: 'manual' }).catch(() => undefined)
  return reply !== undefined && (reply.type === 'opaqueredirect' || [401, 403, 404].includes(reply.status))
}

listen()

const setHall = isOn => {
  document.body.classList.toggle('hall', isOn)
  by('full-screen').textContent = isOn ? 'Leave full screen' : 'Full screen'
  by('full-screen').ariaPressed = String(isOn)
}
by('full-screen').addEventListener('click', async () => {
  const isOn = !document.body.classList.contains('hall')
  setHall(isOn)
  // Phones may not support full screen; the large figures are shown anyway.
  if (isOn) await document.documentElement.requestFullscreen?.().catch(() => undefined)
  else if (document.fullscreenElement) await document.exitFullscreen()
})
document.addEventListener('fullscreenchange', () => setHall(document.fullscreenElement !== null))
