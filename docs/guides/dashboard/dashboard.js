import { connect } from './client.js'

const at = id => document.getElementById(id)
/** Tally's address, if it serves this page. */
const own = /^([^#?]+?)\/docs\/dashboard\//.exec(location.href)?.[1]
/** Settings may be in the address. */
const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
let old
try {
  old = JSON.parse(localStorage.tally)
} catch {}
/** An address in a link gets no key that was entered for another. */
const settings = { ...((given.url ?? old?.url) === old?.url && old), ...given, ...(own && { url: own }) }
const everyMs = 1000 * (Number(settings.every) || 10)

at('setup').onsubmit = event => {
  event.preventDefault()
  localStorage.tally = JSON.stringify(Object.fromEntries(new FormData(event.target)))
  location.hash = ''
  location.reload()
}
window.onhashchange = () => location.reload()

/** Keeps what is typed. */
function showSetup({ status, message }) {
  if (at('setup').hidden)
    for (const name of ['url', 'key']) at('setup').elements[name].value = settings[name] ?? ''
  at('url').hidden = own
  at('setup').hidden = false
  at('figures').hidden = true
  say(status === 401 ? 'This key is not valid or has expired' : message, true)
}

function say(text, isWarning) {
  at('status').textContent = text
  at('status').className = isWarning ? 'warn' : ''
}

const locale = navigator.language
const money = new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR' }).format
const number = new Intl.NumberFormat(locale).format

let event
let day

const draw = {
  /** Shows the open event, or else the latest begun, until it is closed and another opens. */
  listEvents(events) {
    const same = events.find(({ id }) => id === event?.id)
    const begun = events.find(one => new Date(one.startDate) < Date.now())
    const next = [same, ...events].find(one => one?.isOpen) ?? same ?? begun ?? events[0]
    if (event && event.id !== next?.id) location.reload()
    event = { ...next }
    at('name').textContent = document.title = event.name
  },
  getKpis(kpis, { dayId }) {
    // A new day, until the list says otherwise.
    event.isOpen ||= day && day !== dayId
    day = dayId
    at('sales').textContent = money(kpis.totalSales)
    at('orders').textContent = number(kpis.totalOrders)
    at('items').textContent = number(kpis.totalItemsSold)
    at('average').textContent = money(kpis.averageOrderValue)
  },
  getOrdersByHour(hours) {
    drawBars('hours', fromFirst(hours), ({ hour, revenue }) => [
      `${hour}:00`.padStart(5, '0'),
      revenue,
      money(revenue),
    ])
  },
  getTopItems(items) {
    const returned = items.filter(item => item.quantity < 0 || item.revenue < 0)
    const best = items.filter(item => item.quantity > 0 && !returned.includes(item)).slice(0, 8)
    drawBars('best', best, ({ itemName, quantity }) => [itemName, quantity, number(quantity)])
    at('returned').hidden = !returned.length
    drawBars('back', returned, ({ itemName, quantity, revenue }) => [
      itemName,
      0,
      `${number(quantity)} (${money(revenue)})`,
    ])
  },
}

/** An evening begins after the longest pause. */
function fromFirst(hours) {
  const pauses = hours.map(({ hour }, index) => (hour - hours.slice(index - 1)[0].hour + 24) % 24 || 24)
  const first = pauses.indexOf(Math.max(...pauses))
  return [...hours.slice(first), ...hours.slice(0, first)]
}

/** Bars below zero end where the others begin. */
function drawBars(id, all, rowOf) {
  const rows = all.map(rowOf)
  const values = rows.map(([, value]) => value)
  const least = Math.min(...values, 0)
  const share = value => `${(100 * value) / (Math.max(...values, 0) - least || 1)}%`
  const lines = rows.map(([label, value, text]) => {
    const [line, name, bar, amount] = ['li', 'bdi', 'span', 'strong'].map(tag => document.createElement(tag))
    line.append(name, bar, amount)
    name.textContent = label
    bar.className = value < 0 ? 'bar below' : 'bar'
    bar.style.width = share(Math.abs(value))
    bar.style.marginLeft = share(Math.min(value, 0) - least)
    amount.textContent = text
    return line
  })
  at(id).replaceChildren(...lines)
  document.documentElement.style.setProperty(`--${id}`, rows.length)
}

const readings = {}

function showStatus() {
  const all = Object.values(readings)
  if (!all.length || at('figures').hidden) return
  const asOf = Math.min(...all.map(reading => reading.asOf))
  const old = asOf ? `figures as of ${new Date(asOf).toLocaleString(locale)}` : 'figures of unknown age'
  if (all.some(({ error }) => error && error.status !== 429)) say(`No connection: ${old}`, true)
  // After a sleep, or if a request hangs.
  else if (all.some(({ stale, at }) => stale || Date.now() - at > everyMs + 60_000))
    say(`Behind: ${old}`, true)
  else say(event.isOpen ? 'Live' : day === null ? 'No day yet' : 'Closed: the last day')
}

/** A hidden page does not ask; shown again, it asks within a second. */
async function follow(tally, name, parameters) {
  const isList = name === 'listEvents'
  for (;;) {
    for await (const reading of tally.watch(name, parameters, { everyMs: isList ? 6 * everyMs : everyMs })) {
      reading.asOf ??= readings[name]?.asOf
      if (!isList) readings[name] = { ...reading, at: Date.now() }
      if (isList ? !reading.error : reading.isChanged) draw[name](reading.answer.data, reading.answer.meta)
      showStatus()
      if (document.hidden) break
    }
    while (document.hidden) await new Promise(done => setTimeout(done, 1000))
  }
}

async function openEvent(tally) {
  for await (const { answer, error } of tally.watch('listEvents', {}, { everyMs })) {
    if (error) showSetup(error.status ? error : { message: `No connection: ${error.message}` })
    else if (answer.data.length) return draw.listEvents(answer.data)
    else showSetup({ message: 'This key sees no event yet' })
  }
}

async function show() {
  const { url, key } = settings
  const tally = connect({ url, key })
  say(`Connecting to ${url}`)
  await openEvent(tally)
  const eventId = event.id
  at('setup').hidden = true
  at('figures').hidden = false
  setInterval(showStatus, 1000)
  await Promise.all([
    follow(tally, 'listEvents', {}),
    follow(tally, 'getKpis', { eventId }),
    follow(tally, 'getOrdersByHour', { eventId }),
    follow(tally, 'getTopItems', { eventId, limit: 100 }),
  ])
}

if (!settings.url || !settings.key) showSetup({})
else show().catch(showSetup)
