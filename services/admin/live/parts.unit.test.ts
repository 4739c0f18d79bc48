import type { EpochMs } from '@tally/contract'
import { type DocumentName, noStatuses } from '@tally/figures'
import { anEvent } from '@tally/testkit/records/decoded'
import { expect, test } from 'vitest'
// @ts-expect-error a plain script of the browser
import { itemCounts } from '../assets/items.js'
// @ts-expect-error a plain script of the browser
import { firstChoice } from '../assets/parts.js'
import { formatIn } from '../views/format.ts'
import { htmlOf } from '../views/html.ts'
import { showDay } from './day.ts'
import { firstParts } from './figuresView.ts'

const [burger, chips, cup, unlisted] = [7, 9, 70, 99]
/** Saturday, open since 18:00, at 21:30 in Rome; Friday is closed. */
const asOfMs = Date.parse('2026-09-05T19:30:00Z') as EpochMs
const offsetMs = 7_200_000
const menuItems = [
  { menuItemId: cup, name: 'Cup', categoryName: '' },
  { menuItemId: chips, name: 'Chips <b>', categoryName: 'Fryer' },
  { menuItemId: burger, name: 'Burger', categoryName: 'Grill' },
]
const hour = (hour: number, orderCount: number, revenue: number) => ({ hour, orderCount, revenue })
const kpis = (totalSales: number) => ({ totalOrders: 2, totalSales, averageOrderValue: 0, totalItemsSold: 3 })

/** The parts as HTML, of documents by their names. */
function partsWith(documents: Record<string, unknown>, event = {}): Record<string, string> {
  const read = {
    event: { ...anEvent({ menuItems, ...event }), shard: 0 },
    revision: 1,
    epochs: { documents: 1, asOf: 1 },
    asOfMs,
    documents: new Map(
      Object.entries(documents).map(([name, document]) => [name as DocumentName, JSON.stringify(document)]),
    ),
  }
  const day = JSON.parse(showDay(read, { dayId: 42 }, noStatuses()))
  const parts = firstParts(day, { asOfMs, offsetMs, nowMs: asOfMs }, formatIn('en-GB'), '/live?day=')
  return Object.fromEntries(Object.entries(parts).map(([id, trees]) => [id, htmlOf(trees).toString()]))
}
const textOf = (html = '') => html.replace(/<[^>]+>/g, '|').replace(/\|+/g, '|')

test('a day stands against the day before at the same time, and within the festival', () => {
  const { comparison, days } = partsWith({
    'kpis:42:0': kpis(168),
    'kpis:41:0': kpis(1_000.5),
    'hours:41:0': [hour(18, 1, 100), hour(21, 1, 100), hour(23, 1, 800.5)],
  })
  expect(textOf(comparison)).toBe('|▲ |up |12%| on Fri 4 Sept at this time (€150)')
  expect(textOf(days)).toBe('|Fri 4 Sept|€1,000.50|Sat 5 Sept (open)|€168.00|Festival, 2 days|€1,168.50|')
  expect(days).toContain('<a href="/live?day=42" aria-current="true">')
})

test('of two days of one date, the one that a day stands against is named with its opening', () => {
  const dayOf = (dayId: number, openedAt: string) => ({ dayId, date: openedAt.slice(0, 10), openedAt })
  const lunch = { ...dayOf(40, '2026-09-04T10:00:00Z'), closedAt: '2026-09-04T13:00:00Z' }
  const dinner = { ...dayOf(41, '2026-09-04T16:00:00Z'), closedAt: '2026-09-04T22:00:00Z' }
  const days = [lunch, dinner, { ...dayOf(42, '2026-09-05T16:00:00Z'), closedAt: null }]
  const documents = {
    'kpis:42:0': kpis(168),
    'kpis:41:0': kpis(150),
    'hours:42:0': [hour(18, 1, 168)],
    'hours:41:0': [hour(18, 1, 150)],
  }
  const { comparison, ...parts } = partsWith(documents, { days })
  expect(textOf(comparison)).toBe('|▲ |up |12%| on Fri 4 Sept 18:00 at this time (€150)')
  expect(textOf(parts['hours-chart'])).toContain('|Sat 5 Sept|Fri 4 Sept 18:00|')
  expect(textOf(parts['hours-table'])).toContain('|Orders, Fri 4 Sept 18:00|')
})

test('no percentage if the day before took nothing, and no comparison without such a day', () => {
  expect(partsWith({ 'kpis:42:0': kpis(168) }).comparison).toBe('Fri 4 Sept at this time: €0')
  const days = [{ dayId: 42, date: '2026-09-05', openedAt: '2026-09-05T16:00:00Z', closedAt: null }]
  expect(partsWith({}, { days }).comparison).toBe('No earlier day to compare with')
})

test('sales ahead of the clock stand against the day before up to the hour of the newest one', () => {
  const documents = {
    'kpis:42:0': kpis(168),
    'kpis:41:0': kpis(150),
    'hours:41:0': [hour(22, 1, 50), hour(23, 1, 100)],
  }
  const days = [
    { dayId: 41, date: '2026-09-04', openedAt: '2026-09-04T16:00:00Z', closedAt: '2026-09-04T22:00:00Z' },
    { dayId: 42, date: '2026-09-05', openedAt: '2026-09-05T20:00:00Z', closedAt: null },
  ]
  const comparisonWith = (hours: object[]) =>
    textOf(partsWith({ ...documents, 'hours:42:0': hours }, { days }).comparison)
  expect(comparisonWith([hour(22, 1, 168)])).toBe('Fri 4 Sept, whole day: €150')
  const twoHours = [hour(22, 1, 100), hour(23, 1, 68)]
  expect(comparisonWith(twoHours)).toBe('|▲ |up |100%| on Fri 4 Sept, both until 23:00 (€50)')
})

test('an evening has each hour since its opening, what came back is below the line, and Friday is an outline', () => {
  const { 'hours-chart': chart = '', 'hours-table': table } = partsWith({
    'hours:42:0': [hour(19, 3, 100), hour(21, 1, -25)],
    'hours:41:0': [hour(20, 4, 75)],
  })
  expect([...chart.matchAll(/data-hour="(\d+)"/g)].map(([, hour]) => hour)).toEqual(['18', '19', '20', '21'])
  const bars = [
    ...chart.matchAll(/class="(today|before)" x="[^"]+" y="([^"]+)" width="[^"]+" height="([^"]+)"/g),
  ]
  const drawn = bars.filter(([, , , height]) => height !== '0.00%').map(([, ...of]) => of)
  expect(drawn).toEqual([
    ['today', '0.00%', '80.00%'],
    ['before', '20.00%', '60.00%'],
    ['today', '80.00%', '20.00%'],
  ])
  expect(chart).toContain('>-25</text>')
  expect(textOf(table)).toContain('|20:00|0|€0.00|4|€75.00|21:00|1|-€25.00|0|€0.00|')
  // The class keeps figures apart where the table is shown on a phone.
  expect(table).toContain('<td class="number">4</td><td class="number">€75.00</td>')
  expect(table).not.toContain('18:00')
})

test('the table of hours runs through the evening, of this day and of the one before, each hour once', () => {
  const { 'hours-table': table = '' } = partsWith({
    'hours:42:0': [hour(1, 1, 5), hour(19, 1, 5)],
    'hours:41:0': [hour(0, 1, 5), hour(18, 1, 5), hour(23, 1, 5)],
  })
  const rows = [...table.matchAll(/<th scope="row">(\d\d)/g)].map(([, hour]) => Number(hour))
  expect(rows).toEqual([18, 19, 23, 0, 1])
})

test('an evening that has sold nothing has its line at the foot of the chart', () => {
  expect(partsWith({})['hours-chart']).toContain('y1="100.00%"')
})

test('a value stands on its own bar, and the outline of a lower one is seen within the bar', () => {
  const chartOf = (now: number, before: number) =>
    partsWith({ 'hours:42:0': [hour(19, 3, now)], 'hours:41:0': [hour(19, 3, before)] })['hours-chart']
  expect(chartOf(50, 100)).toMatch(/class="before" .*class="value inside" x="[^"]+" y="50.00%" [^>]+>50</)
  expect(chartOf(100, 50)).toMatch(/class="before within" .*class="value" x="[^"]+" y="0.00%" [^>]+>100</)
  expect(chartOf(100, -50)).toContain('class="before"')
  expect(chartOf(-100, -50)).toContain('class="before within"')
})

test('values over bars are left out where they do not fit', () => {
  const chartWith = (revenue: number) =>
    partsWith({ 'hours:42:0': [hour(19, 3, revenue), hour(21, 1, 1)] })['hours-chart']
  expect(chartWith(9_999)).toContain('class="hours names-1 values-1"')
  expect(chartWith(1_234_567)).toContain('class="hours names-1 values-2"')
})

test('items are in their categories in the order of the menu, with subtotals; those of none are last', () => {
  const { counts } = partsWith({
    'items:42:0': [
      [burger, 2, 17, 0, 0],
      [chips, 1, 3.1, 1, 3.1],
      [cup, -2, -4, 0, 0],
      [unlisted, 1, 0.2, 0, 0],
    ],
  })
  expect(textOf(counts)).toBe(
    '|Fryer|€3.10|1|Chips &lt;b&gt;| 1 refunded|€3.10|1|Grill|€17.00|2|Burger|€17.00|2|Other|-€3.80|-1|Cup|-€4.00|-2|Item 99|€0.20|1|',
  )
  // In the link, it would be a column of letters on a phone.
  expect(counts).toMatch(/<\/a><small[^>]*> 1 refunded/)
})

test('items are found without the marks of their letters, however a till encodes them', () => {
  const counts = ['Tiramisù', 'Caffe\u0300', 'Acqua'].map(itemName => ({ itemName, categoryName: '' }))
  const found = (query: string) =>
    textOf(htmlOf(itemCounts({ counts }, formatIn('en'), { ...firstChoice, query })).toString())
  for (const [query, name] of [
    ['tiramisu', 'Tiramisù'],
    ['CAFFÈ ', 'Caffe\u0300'],
    ['caffe', 'Caffe\u0300'],
  ])
    expect([query, found(query ?? '')]).toEqual([query, expect.stringMatching(`^\\|${name}\\|`)])
})

test('a subtotal of nothing has no minus sign', () => {
  const items = [
    [burger, 1, 1, 0, 0],
    [cup, 1, 0.3, 0, 0],
    [98, 1, -0.1, 0, 0],
    [99, 1, -0.2, 0, 0],
  ]
  expect(textOf(partsWith({ 'items:42:0': items }).counts)).toContain('|Other|€0.00|3|')
})

test('best sellers are those by portions, and lead to their hours; a day without a sale has no row', () => {
  const items = [
    [burger, 2, 17, 0, 0],
    [chips, 5, 3, 0, 0],
  ]
  const { best } = partsWith({ 'items:42:0': items })
  expect(textOf(best)).toBe('|Chips &lt;b&gt;|€3.00|5|Burger|€17.00|2|')
  expect(best).toContain('<a href="/live/item?day=42&amp;item=7">Burger</a>')
  expect(textOf(partsWith({}).best)).toBe('|Nothing sold yet|')
})

test('payment methods stand as the tills name them, with their orders and takings', () => {
  const payment = (paymentMethod: string, orders: number, takings: number) => ({
    paymentMethod,
    orders,
    refundedOrders: 0,
    total: takings,
    takings,
  })
  const { payments } = partsWith({
    'payments:42:0': [payment('Card <b>', 3, 1_240.5), payment('', 1, 12), payment('Returns', 2, -4)],
  })
  expect(textOf(payments)).toBe(
    '|Card &lt;b&gt;|3 orders|€1,240.50|Not named|1 order|€12.00|Returns|2 orders|-€4.00|',
  )
  expect([...(payments ?? '').matchAll(/<rect width="([^"]+)"/g)].map(([, width]) => width)).toEqual([
    '100.0%',
    '1.0%',
    '0.0%',
  ])
  expect(partsWith({}).payments).toBe('')
})
