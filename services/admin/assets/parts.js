import { compare } from './comparison.js'
import { centsOf, hourName } from './evening.js'
import { hoursChart, hoursTable, shortName } from './hoursChart.js'
import { bar, bestSellers, itemCounts, nothing, returnedItems, row } from './items.js'
import { h } from './tree.js'

/** What a person chose on the page; `address` leads to another day when its number is appended. */
export const firstChoice = {
  hours: 'takings',
  hour: undefined,
  best: 'sold',
  sort: 'menu',
  query: '',
  isNarrow: false,
  address: undefined,
}

/** The dates that are listed; the total has all. */
const mostDates = 14

const statusNames = {
  PreOrder: 'Pre-order',
  Pending: 'Pending',
  Paid: 'Paid',
  Preparing: 'Preparing',
  ReadyForPickup: 'Ready for pickup',
  Completed: 'Completed',
  Cancelled: 'Cancelled',
}

/**
 * The parts of the live page that show a day's figures (DayShown), by the ids of the elements that hold them, each as
 * trees (tree.js). `beat` is the latest, or null.
 */
export function partsOf(day, beat, format, chosen) {
  const { kpis } = day
  return {
    sales: [format.money(kpis.totalSales)],
    orders: [format.whole(kpis.totalOrders)],
    items: [format.whole(kpis.totalItemsSold)],
    average: [format.money(kpis.averageOrderValue)],
    comparison: comparison(day, beat, format),
    'hours-chart': hoursChart(day, format, chosen),
    'hours-table': hoursTable(day, format),
    best: bestSellers(day, format, chosen),
    returned: returnedItems(day, format, chosen),
    days: dayRows(day, format, chosen),
    counts: itemCounts(day, format, chosen),
    payments: paymentRows(day, format),
    statuses: statusRows(day, format),
  }
}

function comparison(day, beat, format) {
  const clockMs = beat === null || beat.asOfMs === null ? null : beat.asOfMs + beat.offsetMs
  if (day.before === null) return ['No earlier day to compare with']
  const compared = compare(day, clockMs)
  if (compared === undefined) return []
  const { cents, isAtThisTime, until, percent, sign } = compared
  const isWhole = until === undefined && !isAtThisTime
  const both = percent === undefined ? '' : 'both '
  const part = isAtThisTime ? ' at this time' : isWhole ? '' : `, ${both}until ${hourName(until)}`
  const then = shortName(day.before, format) + part
  const sum = format.wholeMoney(cents / 100)
  if (percent === undefined) return [`${then}${isWhole ? ', whole day' : ''}: ${sum}`]
  if (percent === 0) return [`As much as on ${then} (${sum})`]
  const [arrow, word] = sign > 0 ? ['▲', 'up '] : ['▼', 'down ']
  const direction = [h('span', { 'aria-hidden': 'true' }, `${arrow} `), h('span', { class: 'hidden' }, word)]
  return [h('strong', {}, direction, format.percent(Math.abs(percent))), ` on ${then} (${sum})`]
}

/** The dates of the festival with their takings, and their sum; nothing of a festival of one day. */
function dayRows({ dayId, days }, format, { address }) {
  if (days.length < 2) return []
  const most = Math.max(1, ...days.map(({ totalSales }) => totalSales))
  const rows = days.slice(-mostDates).map(({ date, dayId: id, isOpen, totalSales }) => {
    const name = format.weekday(date) + (isOpen ? ' (open)' : '')
    const link = { href: `${address}${id}`, 'aria-current': id === dayId ? 'true' : undefined }
    const takings = h('span', { class: 'number' }, format.money(totalSales))
    return h('li', {}, h('a', link, name), takings, bar(Math.max(0, totalSales) / most))
  })
  const cents = days.reduce((sum, { totalSales }) => sum + centsOf(totalSales), 0)
  const name = h('span', {}, `Festival, ${format.whole(days.length)} days`)
  const sum = h('strong', { class: 'number' }, format.money(cents / 100))
  return [...rows, h('li', { class: 'sum' }, name, sum)]
}

function paymentRows({ payments }, format) {
  const most = Math.max(1, ...payments.map(({ takings }) => takings))
  return payments.map(({ paymentMethod, orders, takings }) => {
    const counted = `${format.whole(orders)} ${orders === 1 ? 'order' : 'orders'}`
    return row(paymentMethod || 'Not named', counted, format.money(takings), Math.max(0, takings) / most)
  })
}

function statusRows({ statuses }, format) {
  if (statuses === null) return [nothing('dd', 'Not available right now')]
  return Object.entries(statusNames).map(([status, name]) =>
    h('div', {}, h('dt', {}, name), h('dd', {}, format.whole(statuses[status]))),
  )
}
