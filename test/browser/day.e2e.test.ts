import type { TopItem } from '@tally/contract'
import { until } from '@tally/testkit/until'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectAccessible } from './accessible.ts'
import { countEvening, type Evening } from './evening.ts'
import { layoutWrongs } from './fits.ts'
import { signIn, useFixture, visit, type Watched } from './fixture.ts'
import { pagesOf } from './pdf.ts'

let evening: Evening
/** One session for all tests: an Italian organizer who is on a journey. */
let visitor: Watched
let page: Page
const fixture = useFixture(async fixture => {
  evening = await countEvening(fixture.tally, 600)
  visitor = await visit(fixture, { locale: 'it-IT', timezoneId: 'America/New_York' })
  page = visitor.page
  await signIn(page, await fixture.administrator(evening.organizationId))
})

const of = () => `eventId=${evening.eventId}&day=${evening.dayId}`

/** The rows of a CSV file by the names of its columns. */
async function rowsOf(path: string): Promise<Record<string, string>[]> {
  const reply = await page.request.get(`${path}?${of()}`)
  expect(reply.status()).toBe(200)
  const [head = [], ...rows] = (await reply.text())
    .replace(/^\ufeff/, '')
    .trimEnd()
    .split('\r\n')
    .map(line => line.slice(1, -1).split('","'))
  return rows.map(row => Object.fromEntries(head.map((name, index) => [name, row[index] ?? ''])))
}

async function askApi(path: string) {
  const token = await fixture.tally.key(evening.organizationId)
  const { status, body } = await fixture.tally.get(
    `/api/v1/events/${evening.eventId}/${path}?dayId=${evening.dayId}`,
    { token },
  )
  expect(status).toBe(200)
  return body.data
}

const centsOf = (text: string | undefined) => Math.round(Number(text) * 100)
const sumOf = (rows: Record<string, string>[], column: string) =>
  rows.reduce((sum, row) => sum + centsOf(row[column]), 0)

test('the order list adds up to the API’s figures, net of refunds', async () => {
  const kpis = await askApi('analytics/kpis')
  const orders = await rowsOf('/live/orders.csv')
  expect(sumOf(orders, 'takings')).toBe(centsOf(kpis.totalSales))
  const counted = orders.filter(({ status }) =>
    /^(Paid|Preparing|ReadyForPickup|Completed)$/.test(status ?? ''),
  )
  expect(counted).toHaveLength(kpis.totalOrders)
  // An evening in which nothing is refunded or cancelled would prove little.
  expect(sumOf(counted, 'refunded')).toBeGreaterThan(0)
  expect(orders.length).toBeGreaterThan(counted.length)
  expect(sumOf(counted, 'total') - sumOf(counted, 'refunded')).toBe(centsOf(kpis.totalSales))
})

test('the figures are the API’s, and hours and payment methods add up to them', async () => {
  const kpis = await askApi('analytics/kpis')
  const hours = await askApi('analytics/orders/by-hour')
  const items = await askApi('live/item-counts')
  const rows = await rowsOf('/live/day.csv')
  const named = (figure: string) => rows.filter(row => row.figure === figure)
  const [day] = named('day')
  expect([Number(day?.orders), Number(day?.quantity), centsOf(day?.takings)]).toEqual([
    kpis.totalOrders,
    kpis.totalItemsSold,
    centsOf(kpis.totalSales),
  ])
  expect(centsOf(day?.total) - centsOf(day?.refunded)).toBe(centsOf(kpis.totalSales))
  const evening = named('hour').map(({ name, takings }) => [Number(name?.slice(0, 2)), Number(takings)])
  expect(evening.toSorted(([one = 0], [other = 0]) => one - other)).toEqual(
    hours.map(({ hour, revenue }: { hour: number; revenue: number }) => [hour, revenue]),
  )
  const sinceNoon = evening.map(([hour = 0]) => (hour + 12) % 24)
  expect(sinceNoon).toEqual(sinceNoon.toSorted((one, other) => one - other))
  expect(evening.map(([hour]) => hour)).toContain(0)
  expect(named('payment method').length).toBeGreaterThan(1)
  for (const figure of ['hour', 'payment method'])
    expect([figure, sumOf(named(figure), 'takings')]).toEqual([figure, centsOf(kpis.totalSales)])
  const sold = (rows: { itemName: string; quantitySold: number }[]) =>
    rows.map(({ itemName, quantitySold }) => [itemName, quantitySold]).toSorted()
  expect(
    named('item')
      .map(({ name, quantity }) => [name, Number(quantity)])
      .toSorted(),
  ).toEqual(sold(items))
})

test('the live page leads to the sheet and both files, with money and times as the viewer and the event have them', async () => {
  const kpis = await askApi('analytics/kpis')
  await page.goto(`/live?${of()}`)
  const money = new Intl.NumberFormat('it-IT', { style: 'currency', currency: 'EUR' })
  await page.getByText(money.format(kpis.totalSales), { exact: true }).waitFor()
  // After midnight in Rome.
  await until('the time is that of the event', async () =>
    /^Closed at 0\d:\d\d$/.test((await page.locator('#status-text').textContent()) ?? ''),
  )
  for (const name of ['Figures (CSV)', 'Orders (CSV)']) {
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name }).click()
    expect((await download).suggestedFilename()).toMatch(/^[a-z0-9-]+-2026-09-04-(figures|orders)\.csv$/)
  }
  await page.getByRole('link', { name: 'End-of-day sheet' }).click()
  await page.getByRole('heading', { name: 'By payment method' }).waitFor()
  await expectAccessible(page)
  expect(visitor.wrongs).toEqual([])
})

test('an item of the live page has its evening by hour, which adds up to the API’s figures', async () => {
  const items: TopItem[] = await askApi('analytics/orders/top-items')
  const other = items.find(({ refundedQuantity }) => refundedQuantity > 0) ?? expect.fail('no refund')
  await page.goto(`/live?${of()}`)
  await page.locator('.counts').getByRole('link', { name: other.itemName }).click()
  await page.getByRole('heading', { name: other.itemName }).waitFor()
  await expectAccessible(page)
  const cells = await page
    .locator('#hours-rows tr')
    .evaluateAll(rows =>
      rows.map(row => [...row.querySelectorAll('td')].map(({ textContent }) => textContent ?? '')),
    )
  const sumOf = (column: number) =>
    cells.reduce((sum, row) => sum + Number(row[column]?.replace(/[^0-9-]/g, '')), 0)
  expect([sumOf(0), sumOf(1)]).toEqual([other.quantity, Math.round(other.revenue * 100)])
  expect(cells.length).toBeGreaterThan(2)
  for (const wrong of ['&item=2147483647', '&item=x', ''])
    expect((await page.request.get(`/live/item?${of()}${wrong}`)).status()).toBe(404)
  await page.getByRole('link', { name: 'Live page' }).click()
  await page.getByRole('heading', { name: 'Best sellers' }).waitFor()
})

test.for([
  // Widths less margins of 15 mm, at 96 dots per inch.
  { format: 'A4', width: 680, height: 1_009 },
  { format: 'Letter', width: 702, height: 942 },
])(
  'the sheet prints on $format: black on white, whole, with its pages counted',
  async ({ format, width, height }) => {
    await page.goto(`/live/day?${of()}`)
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    expect(await page.evaluate(layoutWrongs, { width, thumbPx: 0 })).toEqual([])
    for (const hidden of ['header', '#print', '.crumb'])
      expect(await page.locator(hidden).isVisible()).toBe(false)
    for (const shown of ['Counted cash', 'Difference', 'Signature', 'Printed'])
      expect([shown, await page.getByText(shown).isVisible()]).toEqual([shown, true])
    // A laptop that was asleep for nine hours.
    const hour = async () => Number(/(\d\d):/.exec((await page.locator('#printed').textContent()) ?? '')?.[1])
    const before = await hour()
    await page.evaluate(`
      const now = Date.now()
      Date.now = () => now + 9 * 3_600_000
      dispatchEvent(new Event('beforeprint'))`)
    expect([9, 10]).toContain(((await hour()) - before + 24) % 24)
    const [ink, paper] = (await page.evaluate(
      `['color', 'backgroundColor'].map(name => getComputedStyle(document.body)[name])`,
    )) as string[]
    expect([ink, paper]).toEqual(['rgb(0, 0, 0)', 'rgb(255, 255, 255)'])
    const printed = await pagesOf(await page.pdf({ format }))
    expect(printed.length).toBeLessThanOrEqual(4)
    for (const [place, text] of printed.entries())
      expect(text).toContain(`Page ${place + 1} of ${printed.length}`)
    const cells = await page.locator('.sheet :is(th, td):not(:empty)').allTextContents()
    // By word: a long name is in two lines, with the numbers of its row between them.
    const words = new Set(printed.join(' ').split(/\s+/))
    expect(cells.flatMap(cell => cell.split(/\s+/)).filter(word => word !== '' && !words.has(word))).toEqual(
      [],
    )
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' })
  },
)
