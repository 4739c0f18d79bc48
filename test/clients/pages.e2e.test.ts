import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { useTally } from '@tally/testkit/processes/tally'
import { burger, newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { freePort } from '#infra/servers/ports.ts'
import { clientFile } from '../../services/query/guides/clientPackage.ts'
import { listGuides } from '../../services/query/guides/guides.ts'
import { expectAccessible } from '../browser/accessible.ts'
import { openContext } from '../browser/browser.ts'
import { oldBrowser } from '../browser/oldBrowser.ts'
import { useFolder } from './installClient.ts'
import { serveFolder } from './staticPages.ts'

const source = join(import.meta.dirname, '../../docs/guides/dashboard')
const tally = useTally({ queries: 0 })
const festival = newFestival()
const { organizationId, eventId } = festival
const folder = useFolder()
let pages: Awaited<ReturnType<typeof serveFolder>>
const contexts: BrowserContext[] = []
let query: Awaited<ReturnType<typeof tally.startQuery>>
let token: string

beforeAll(async () => {
  cpSync(source, folder, { recursive: true })
  writeFileSync(join(folder, 'client.js'), clientFile())
  pages = await serveFolder(folder)
  query = await tally.startQuery({ CORS_ORIGINS: pages.url })
  const late = { orderDateTime: '2026-09-05T22:10:00Z' }
  await tally.count([festival.organization(), festival.event(), festival.order(), festival.order(late)])
  token = await tally.key(organizationId, { scopes: ['events:read', 'analytics:read'], eventId } as never)
}, 300_000)
afterEach(() => Promise.all(contexts.splice(0).map(context => context.close())))
afterAll(() => pages?.close())

async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await openContext(options)
  contexts.push(context)
  return context
}

/** A visitor's page; `wrongs` collects what it threw and what its policy stopped. */
async function visit(
  options: BrowserContextOptions = {},
  hash = '',
  prepare?: (page: Page) => Promise<void>,
) {
  const page = await (await newContext(options)).newPage()
  const wrongs: string[] = []
  page.on('pageerror', error => wrongs.push(error.message))
  page.on('console', message => {
    if (/Content Security Policy|CORS/i.test(message.text())) wrongs.push(message.text())
  })
  await prepare?.(page)
  await page.goto(`${pages.url}/${hash}`)
  return { page, wrongs }
}
const settings = () => `#${new URLSearchParams({ url: query.address, key: token, every: '1' })}`
const reads = (page: Page, id: string, wanted: string | RegExp) =>
  until(`${id} reads ${wanted}`, async () => {
    const text = ((await page.locator(`#${id}`).textContent()) ?? '').replaceAll(/\s+/g, ' ')
    return typeof wanted === 'string' ? text === wanted : wanted.test(text)
  })
test('the dashboard is less than 11 kB of own code', () => {
  const code = readdirSync(source).filter(name => !name.endsWith('.md'))
  const bytes = code.reduce((sum, name) => sum + readFileSync(join(source, name)).length, 0)
  expect(code.toSorted()).toEqual(['dashboard.css', 'dashboard.js', 'index.html'])
  expect(bytes).toBeLessThan(11_000)
})

test('a person enters address and key, and sees takings, hours and best sellers of another origin', async () => {
  const { page, wrongs } = await visit()
  await expectAccessible(page)
  await page.getByLabel('Address of Tally').fill(query.address)
  await page.getByLabel('Key').fill(token)
  await page.getByRole('button', { name: 'Show the figures' }).click()
  await reads(page, 'sales', '€55.00')
  await reads(page, 'status', 'Live')
  expect(await page.locator('#orders').textContent()).toBe('2')
  // The evening goes on after midnight.
  await reads(page, 'hours', '21:00€27.5000:00€27.50')
  await reads(page, 'best', 'Burger4Acqua2')
  await expectAccessible(page)
  await page.reload()
  await reads(page, 'sales', '€55.00')
  expect(wrongs).toEqual([])
})

test('a link with another address gets no key that was entered', async () => {
  const { page } = await visit()
  await page.getByLabel('Address of Tally').fill(query.address)
  await page.getByLabel('Key').fill(token)
  await page.getByRole('button', { name: 'Show the figures' }).click()
  await reads(page, 'sales', '€55.00')
  const keys: string[] = []
  const other = `http://127.0.0.1:${await freePort()}`
  await page.route(`${other}/**`, async route => {
    keys.push(route.request().headers()['x-api-key'] ?? '')
    await route.abort()
  })
  await page.goto('about:blank')
  await page.goto(`${pages.url}/#${new URLSearchParams({ url: other })}`)
  await page.getByLabel('Key').waitFor()
  expect(await page.getByLabel('Key').inputValue()).toBe('')
  expect(keys).toEqual([])
  await page.goto('about:blank')
  await page.goto(`${pages.url}/#${new URLSearchParams({ url: query.address })}`)
  await reads(page, 'sales', '€55.00')
})

test('Tally serves the dashboard itself, which asks for the key alone, or finds it in its address', async () => {
  const { page, wrongs } = await visit({ viewport: { width: 390, height: 844 } })
  const asked: string[] = []
  page.on('request', request => asked.push(request.url()))
  await page.goto(`${query.address}/docs/dashboard`)
  expect(page.url()).toBe(`${query.address}/docs/dashboard/`)
  expect(await page.getByLabel('Address of Tally').isVisible()).toBe(false)
  await expectAccessible(page)
  await page.getByLabel('Key').fill(token)
  await page.getByRole('button', { name: 'Show the figures' }).click()
  await reads(page, 'sales', '€55.00')
  await reads(page, 'status', 'Live')
  await expectAccessible(page)
  expect(asked.filter(url => !url.startsWith(`${query.address}/`) || url.includes(token))).toEqual([])

  const screen = await visit()
  await screen.page.goto(`${query.address}/docs/dashboard/#key=${token}`)
  await reads(screen.page, 'sales', '€55.00')
  // Labels grow once the number of rows is known.
  await reads(screen.page, 'hours', /21/)
  await reads(screen.page, 'best', /Acqua/)
  for (const [width, height] of [
    [1280, 720],
    [1920, 1080],
    [3840, 2160],
    [1080, 1920],
  ] as const) {
    await screen.page.setViewportSize({ width, height })
    const seen = await screen.page.evaluate(
      '[document.documentElement.scrollHeight, parseFloat(getComputedStyle(document.body).fontSize)]',
    )
    // One screen, with labels of 2 % of its height.
    expect(seen).toEqual([height, expect.toSatisfy(px => px >= height * 0.02)])
  }
  expect([...wrongs, ...screen.wrongs]).toEqual([])
})

test('a television of 2021 shows the dashboard, dark if it wants it so', async () => {
  const television = await newContext({ colorScheme: 'dark' })
  await television.addInitScript(oldBrowser)
  const page = await television.newPage()
  const thrown: string[] = []
  page.on('pageerror', ({ message }) => thrown.push(message))
  await page.goto(`${pages.url}/${settings()}`)
  await reads(page, 'sales', '€55.00')
  await reads(page, 'status', 'Live')
  await reads(page, 'hours', '21:00€27.5000:00€27.50')
  expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(16, 21, 20)')
  expect(thrown).toEqual([])
})

test('an hour below zero has a bar on the other side, and returned cups are no best sellers', async () => {
  const cups = newFestival({ organizationId })
  const order = (items: object[], totalAmount: number, orderDateTime: string) =>
    cups.order({ orderDateTime, totalAmount, items })
  const line = (menuItemId: number, quantity: number, unitPrice: number) => ({
    menuItemId,
    itemName: 'On the bill',
    quantity,
    unitPrice,
  })
  await tally.count([
    cups.event(),
    order([line(burger, 2, 10), line(70, 2, 2)], 24, '2026-09-05T19:00:00Z'),
    order([line(70, -5, 2)], -10, '2026-09-05T22:10:00Z'),
    order([line(71, 1, -2)], -2, '2026-09-05T22:20:00Z'),
  ])
  const key = await tally.key(organizationId, {
    scopes: ['events:read', 'analytics:read'],
    eventId: cups.eventId,
  } as never)
  for (const { width, height } of [
    { width: 390, height: 844 },
    { width: 1440, height: 900 },
  ]) {
    const { page, wrongs } = await visit(
      { viewport: { width, height } },
      `#${new URLSearchParams({ url: query.address, key, every: '1' })}`,
    )
    await reads(page, 'hours', '21:00€24.0000:00-€12.00')
    await reads(page, 'best', 'Burger2')
    await reads(page, 'back', 'Item 711 (-€2.00)Item 70-3 (-€6.00)')
    const boxes = page.locator('#hours .bar')
    const [sold, returned] = await Promise.all([boxes.nth(0).boundingBox(), boxes.nth(1).boundingBox()])
    expect(Math.round((returned?.x ?? 0) + (returned?.width ?? 0))).toBe(Math.round(sold?.x ?? -1))
    expect(Math.round((100 * (returned?.width ?? 0)) / (sold?.width ?? 1))).toBe(50)
    await expectAccessible(page)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    expect(wrongs).toEqual([])
  }
})

test('it says that figures are old while the connection is lost, and recovers without a reload', async () => {
  const { page } = await visit({}, settings())
  await reads(page, 'sales', '€55.00')
  await reads(page, 'status', 'Live')
  await page.context().setOffline(true)
  await reads(page, 'status', /^No connection: figures as of .*\d{4}.* \d\d:\d\d:\d\d$/)
  expect(await page.locator('#sales').textContent()).toBe('€55.00')
  await page.context().setOffline(false)
  await reads(page, 'status', 'Live')
})

test.for([
  { status: 404, contentType: 'text/plain', body: '404 page not found' },
  { status: 200, contentType: 'text/html', body: '<title>Sign in</title>' },
])('what a proxy or a portal answers is an outage: $status $contentType', async answer => {
  const { page, wrongs } = await visit({}, settings())
  await reads(page, 'sales', '€55.00')
  const headers = { 'Access-Control-Allow-Origin': pages.url, 'Content-Type': answer.contentType }
  await page.route(`${query.address}/**`, route => route.fulfill({ ...answer, headers }))
  await reads(page, 'status', /^No connection: figures as of .*\d{4}.* \d\d:\d\d:\d\d$/)
  expect(await page.locator('#sales').textContent()).toBe('€55.00')
  await page.unroute(`${query.address}/**`)
  await reads(page, 'status', 'Live')
  expect(wrongs).toEqual([])
})

test('after a sleep of an hour it does not say Live for old figures, while its requests hang', async () => {
  // No request is under way when it sleeps: the next ones are a minute later.
  const slow = settings().replace('every=1', 'every=60')
  const { page } = await visit({}, slow, page => page.clock.install())
  await reads(page, 'sales', '€55.00')
  await reads(page, 'best', /Acqua/)
  await reads(page, 'hours', /21/)
  await page.route(`${query.address}/**`, () => undefined)
  await page.clock.pauseAt(Date.now() + 3_600_000)
  await page.clock.runFor(1_500)
  await reads(page, 'status', /^Behind: figures as of .*\d{4}.* \d\d:\d\d:\d\d$/)
})

test('it keeps the time of the figures that it shows if an answer has none', async () => {
  const { page } = await visit({}, settings())
  await reads(page, 'status', 'Live')
  await page.route(`${query.address}/**`, async route => {
    const response = await route.fetch()
    await route.fulfill({ response, headers: { ...response.headers(), 'tally-as-of': '' } })
  })
  await reads(page, 'status', /^Behind: figures as of .*\d{4}/)
  // A request may be under way.
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('without an open event it shows the latest that has begun, and says that it had no day yet', async () => {
  const own = newFestival()
  const { organizationId } = own
  await tally.count([
    own.organization(),
    own.event({ days: [], name: 'Sagra dell’Uva', startDate: '2025-09-04T16:00:00Z' }),
    newFestival({ organizationId }).event({ days: [], startDate: '2999-09-04T16:00:00Z' }),
  ])
  const key = await tally.key(organizationId, { scopes: ['events:read', 'analytics:read'] } as never)
  const { page } = await visit({}, settings().replace(token, key))
  await reads(page, 'name', 'Sagra dell’Uva')
  await reads(page, 'status', 'No day yet')
})

test('a hidden page asks nothing, and one that is shown again asks at once', async () => {
  const asked = { here: 0, elsewhere: 0 }
  const count = (where: keyof typeof asked) => async (page: Page) =>
    void page.on('request', request => request.url().includes('/api/') && asked[where]++)
  const { page } = await visit({}, settings(), count('here'))
  await visit({}, settings(), count('elsewhere'))
  await reads(page, 'best', /Acqua/)
  const turn = (isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })`)
  await turn(true)
  const { here, elsewhere } = asked
  await until('the other page has asked often', () => asked.elsewhere > elsewhere + 20)
  // Each of its four questions may have been under way, or about to be asked.
  expect(asked.here).toBeLessThanOrEqual(here + 4)
  await turn(false)
  await until('it asks again', () => asked.here > here + 5)
})

test('the form names a wrong interval, next to the title', async () => {
  const viewport = { width: 970, height: 700 }
  const { page } = await visit({ viewport }, settings().replace('every=1', 'every=-1'))
  await reads(page, 'status', /^everyMs: a number of milliseconds/)
  await page.evaluate(`document.getElementById('status').append(' so far'.repeat(40))`)
  expect((await page.locator('#name').boundingBox())?.width).toBeGreaterThan(80)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(970)
})

test('an address that does not answer keeps the form usable: what is typed stays, and another address works', async () => {
  const nowhere = `http://127.0.0.1:${await freePort()}`
  const { page } = await visit({}, `#${new URLSearchParams({ url: nowhere, key: token, every: '1' })}`)
  const attempts: string[] = []
  page.on('request', request => attempts.push(request.url()))
  await reads(page, 'status', /^No connection/)
  const address = page.getByLabel('Address of Tally')
  expect(await address.inputValue()).toBe(nowhere)
  await address.fill(query.address)
  const before = attempts.length
  await until('it has tried again', () => attempts.length > before)
  expect(await address.inputValue()).toBe(query.address)
  await page.getByRole('button', { name: 'Show the figures' }).click()
  await reads(page, 'sales', '€55.00')
  expect(await page.locator('#setup').isVisible()).toBe(false)
})

test('a key that does not work shows the form with the reason, and another address is opened at once', async () => {
  const wrong = settings().replace(token, 'tally_wrong')
  const { page } = await visit({ viewport: { width: 1440, height: 900 } }, wrong)
  await reads(page, 'status', 'This key is not valid or has expired')
  expect(await page.locator('#setup').isVisible()).toBe(true)
  expect(await page.locator('#figures').isVisible()).toBe(false)
  await page.goto(`${pages.url}/${settings()}`)
  await reads(page, 'sales', '€55.00')
})

test('a key that ends while the page is open shows the form, and nothing overwrites the reason', async () => {
  const { page } = await visit({}, settings(), page => page.clock.install())
  await reads(page, 'status', 'Live')
  const body = JSON.stringify({ type: '/problems/unauthorized' })
  const headers = { 'Access-Control-Allow-Origin': pages.url, 'Content-Type': 'application/problem+json' }
  await page.route(`${query.address}/**`, route => route.fulfill({ status: 401, headers, body }))
  const reason = 'This key is not valid or has expired'
  await reads(page, 'status', reason)
  await page.clock.runFor(3_000)
  expect(await page.locator('#status').textContent()).toBe(reason)
})

test('a closed day is not called live, the next one is at once, and another festival that opens is shown', async () => {
  const own = newFestival()
  const days = [
    { dayId: 41, date: '2026-09-04', openedAt: '2026-09-04T16:00:00Z', closedAt: '2026-09-05T00:10:00Z' },
  ]
  const next = { dayId: 42, date: '2026-09-05', openedAt: '2026-09-05T16:00:00Z', closedAt: null }
  await tally.count([own.organization(), own.event({ days }), own.order({ dayId: 41 })])
  const key = await tally.key(own.organizationId, { scopes: ['events:read', 'analytics:read'] } as never)
  const { page } = await visit({}, settings().replace(token, key))
  await reads(page, 'sales', '€27.50')
  await reads(page, 'status', 'Closed: the last day')
  await tally.count([own.event({ version: 2, days: [...days, next] })])
  await reads(page, 'sales', '€0.00')
  await reads(page, 'status', 'Live')
  const ended = { ...next, dayId: 43, date: '2026-09-06', closedAt: '2026-09-06T00:10:00Z' }
  await tally.count([own.event({ version: 3, days })])
  await reads(page, 'status', 'Closed: the last day')
  // It opens and closes between two readings of the list, whose answer stays the same.
  await tally.count([
    own.event({ version: 4, days: [...days, ended] }),
    own.order({ dayId: 43 }),
    own.order({ dayId: 43 }),
  ])
  await reads(page, 'sales', '€55.00')
  await reads(page, 'status', 'Closed: the last day')
  const { organizationId } = own
  await tally.count([
    own.event({ version: 5, days }),
    newFestival({ organizationId }).event({ name: 'Sagra dell’Uva' }),
  ])
  await reads(page, 'name', 'Sagra dell’Uva')
})

test('the pages of the service fit a phone, and can be read by everybody', async () => {
  const { page, wrongs } = await visit({ viewport: { width: 390, height: 844 } })
  const paths = listGuides().map(({ path }) => path)
  for (const path of [
    '/',
    '/docs',
    // The pages of single errors are like that of one.
    ...paths.filter(path => !path.includes('/errors/')),
    '/problems/not-found',
  ]) {
    await page.goto(query.address + path)
    expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(390)
    await expectAccessible(page)
  }
  expect(wrongs).toEqual([])
})

test('the reference has endpoints on the first screen of a phone, and commands next to them to copy', async () => {
  const permissions = ['clipboard-read', 'clipboard-write']
  const { page, wrongs } = await visit({ viewport: { width: 390, height: 844 }, permissions })
  await page.goto(`${query.address}/docs`)
  const bottomOf = (box: { y: number; height: number } | null) => (box === null ? 900 : box.y + box.height)
  expect(bottomOf(await page.getByRole('link', { name: 'item-counts' }).boundingBox())).toBeLessThan(844)
  await page.setViewportSize({ width: 1440, height: 900 })
  const kpis = page.locator('section', { hasText: '/analytics/kpis' })
  const title = await kpis.getByRole('heading', { level: 3 }).boundingBox()
  const command = await kpis.locator('pre').first().boundingBox()
  expect(command?.x).toBeGreaterThan((title?.x ?? 0) + (title?.width ?? 1440))
  expect(Math.abs((command?.y ?? 0) - (title?.y ?? 900))).toBeLessThan(60)
  const button = kpis.getByRole('button').first()
  await button.click()
  await expect.poll(() => button.textContent()).toBe('Copied')
  const copied = await page.evaluate('navigator.clipboard.readText()')
  expect(copied).toContain(`\\\n  "${query.address}/api/v1/events/$EVENT_ID/analytics/kpis"`)
  expect(wrongs).toEqual([])
})
