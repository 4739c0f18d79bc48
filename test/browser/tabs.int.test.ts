import type { AddressInfo } from 'node:net'
import type { EventId } from '@tally/contract'
import { openRelay, type Relay } from '@tally/testkit/servers/relay'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  type Fixture,
  newEvent,
  newOffice,
  newVisitor,
  openFixture,
} from '../../services/admin/test/fixture.ts'
import { listDays, sell } from '../../services/admin/test/sell.ts'
import { expectAccessible } from './accessible.ts'
import { openContext } from './browser.ts'
import { picture } from './fixture.ts'
import { beginShard, longName, sellMenu, sellMore } from './menu.ts'
import { oldBrowser } from './oldBrowser.ts'
import { expectOneScreen } from './screenFits.ts'

let fixture: Fixture
let network: Relay
let context: BrowserContext
beforeAll(async () => {
  fixture = await openFixture({ screenCheckMs: 300 })
  await fixture.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = fixture.app.server.address() as AddressInfo
  network = await openRelay({ host: '127.0.0.1', port })
  context = await newContext()
})
afterEach(async () => {
  await network.mend()
  for (const page of context.pages()) await page.close()
  await context.clearCookies()
})
afterAll(async () => {
  await context?.close()
  await network?.close()
  await fixture?.close()
})

const newContext = (options: BrowserContextOptions = {}) =>
  openContext({
    ...options,
    baseURL: `http://127.0.0.1:${network.port}`,
    viewport: { width: 900, height: 700 },
  })

type Office = Awaited<ReturnType<typeof newOffice>>
const friday = { dayId: 41, date: '2026-09-04', openedAt: 0, closedAt: null }
const saturday = { dayId: 42, date: '2026-09-05', openedAt: 0, closedAt: null }
/** 00:10 in Rome. */
const midnight = Date.UTC(2026, 8, 4, 22, 10)

/** An event that has sold `orders` orders on its open day. */
async function eventWith(
  office: Office,
  name: string,
  orders: number,
  days: object[] = [friday],
): Promise<EventId> {
  const eventId = await newEvent(fixture, office.organizationId, { name, timeZone: 'Europe/Rome', days })
  await fixture.db.insertInto('event_heads').values({ event_id: eventId, shard: 0, revision: 1 }).execute()
  await sell(fixture, { eventId, dayId: 41 }, orders)
  await beginShard(fixture)
  return eventId
}

async function newLink(office: Office, eventId: EventId, shows = 'money'): Promise<string> {
  const visitor = newVisitor(fixture.app)
  await visitor.signIn(office.email)
  const form = { name: 'Hall', eventId, shows, area: `${eventId}:1`, ends: 'day' }
  const made = await visitor.post('/screens', form, { from: '/screens' })
  return /\/screen\/[\w-]{43}/.exec(made.body)?.[0] ?? ''
}

async function open(path: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(path)
  return page
}

/** What a screen names and shows. */
const read = (page: Page): Promise<unknown> =>
  page
    .evaluate(
      "['event', 'date', 'orders', 'status-text'].map(id => document.getElementById(id)?.textContent).join(' | ')",
    )
    .catch(() => 'another page')
async function shows(page: Page, wanted: string): Promise<void> {
  let seen: unknown
  const isShown = async () => {
    seen = await read(page)
    return seen === wanted
  }
  await until(`the screen shows ${wanted}`, isShown, 30_000).catch(({ message }) => {
    throw new Error(`${message}, but ${seen}`)
  })
}

/** That a text is shown, as an expression of the page. */
const says = (text: string) => `document.body.innerText.includes('${text}')`

/** Waits until an expression of the page is true. Playwright's own waits need a Chromium of 2022. */
const untilTrue = (page: Page, expression: string) =>
  until(expression, async () => (await page.evaluate(expression).catch(() => false)) === true)

test('two links in two tabs keep their events while the network is cut, is silent, and comes back', async () => {
  const office = await newOffice(fixture)
  const [first, second] = [await eventWith(office, 'Sagra', 3), await eventWith(office, 'Palio', 7)]
  const sagra = await open(await newLink(office, first))
  const palio = await open(await newLink(office, second))
  await shows(palio, 'Palio | 4 Sept 2026 | 7 | Live')
  await sagra.bringToFront()
  await shows(sagra, 'Sagra | 4 Sept 2026 | 3 | Live')
  let sold = 3
  for (const way of ['cut', 'stall'] as const) {
    await network[way]()
    await shows(sagra, `Sagra | 4 Sept 2026 | ${sold} | Connection lost: retrying`)
    await shows(palio, `Palio | 4 Sept 2026 | ${sold + 4} | Connection lost: retrying`)
    sold += 10
    await sell(fixture, { eventId: first, dayId: 41 }, sold)
    await sell(fixture, { eventId: second, dayId: 41 }, sold + 4)
    await network.mend()
    await shows(sagra, `Sagra | 4 Sept 2026 | ${sold} | Live`)
    await shows(palio, `Palio | 4 Sept 2026 | ${sold + 4} | Live`)
  }
})

test('the address of a link shows nothing in a browser that has not opened the link', async () => {
  const office = await newOffice(fixture)
  const page = await open(await newLink(office, await eventWith(office, 'Sagra', 3)))
  await shows(page, 'Sagra | 4 Sept 2026 | 3 | Live')
  const other = await newContext()
  const stranger = await other.newPage()
  expect((await stranger.goto(page.url()))?.status()).toBe(404)
  await other.close()
})

test('a closed day says when, and the next one is shown by links and offered on the live page', async () => {
  const office = await newOffice(fixture)
  const eventId = await eventWith(office, 'Sagra', 3)
  const hall = await open(await newLink(office, eventId))
  await shows(hall, 'Sagra | 4 Sept 2026 | 3 | Live')
  const session = newVisitor(fixture.app)
  await session.signIn(office.email)
  const [name, value] = [...session.cookies].find(([name]) => name.startsWith('tally_session')) ?? ['', '']
  await context.addCookies([{ name, value, domain: '127.0.0.1', path: '/' }])
  const live = await open('/live')
  const closed = { ...friday, closedAt: midnight }
  await listDays(fixture, eventId, [closed])
  await shows(live, 'Sagra | 4 Sept 2026 | 3 | Closed at 00:10')
  await shows(hall, 'Sagra | 4 Sept 2026 | 3 | Closed at 00:10')
  await listDays(fixture, eventId, [closed, saturday])
  await shows(hall, 'Sagra | 5 Sept 2026 | 0 | Live')
  await live.getByText('5 Sept 2026 is open now.').waitFor()
  await shows(live, 'Sagra | 4 Sept 2026 | 3 | Closed at 00:10')
  await live.getByRole('link', { name: 'Show it' }).click()
  await shows(live, 'Sagra | 5 Sept 2026 | 0 | Live')
  expect(await live.locator('#open-day').isVisible()).toBe(false)
})

test('a screen of an event without a day shows its first day as soon as there is one', async () => {
  const office = await newOffice(fixture)
  const eventId = await eventWith(office, 'Sagra', 3, [])
  const page = await open(await newLink(office, eventId))
  await untilTrue(page, says('Waiting for the first day'))
  await listDays(fixture, eventId, [friday])
  await shows(page, 'Sagra | 4 Sept 2026 | 3 | Live')
})

test('ten windows of one browser are live over HTTP/1.1, pages load meanwhile, and hidden ones have no stream', async () => {
  const office = await newOffice(fixture)
  const eventId = await eventWith(office, 'Sagra', 3)
  const link = await newLink(office, eventId)
  const pages: Page[] = []
  for (let index = 0; index < 10; index++) pages.push(await open(link))
  await sell(fixture, { eventId, dayId: 41 }, 4)
  for (const page of pages) await shows(page, 'Sagra | 4 Sept 2026 | 4 | Live')
  expect((await (await open('/sign-in')).title()).length).toBeGreaterThan(0)

  const turn = (isHidden: boolean) =>
    Promise.all(
      pages.map(page =>
        page.evaluate(`
          Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
          document.dispatchEvent(new Event('visibilitychange'))`),
      ),
    )
  await turn(true)
  await until('no stream is left', async () => (await openStreams()) === 0)
  await sell(fixture, { eventId, dayId: 41 }, 5)
  for (const page of pages) expect(await read(page)).toBe('Sagra | 4 Sept 2026 | 4 | Connecting …')
  // A request that was on its way when its window was hidden is refused only now.
  await until('no stream is left', async () => (await openStreams()) === 0)
  await turn(false)
  for (const page of pages) await shows(page, 'Sagra | 4 Sept 2026 | 5 | Live')
  expect(await openStreams()).toBeLessThan(7)
})

const openStreams = async () => (await fixture.deps.metrics.screens.get()).values[0]?.value

test('in a rush the figures never fade, and each is marked at most once a second', async () => {
  const office = await newOffice(fixture)
  const eventId = await eventWith(office, 'Sagra', 3)
  const page = await open(await newLink(office, eventId))
  await shows(page, 'Sagra | 4 Sept 2026 | 3 | Live')
  await page.evaluate(`
    globalThis.seen = { opacities: new Set(), marks: [], unmarks: [] }
    const orders = document.getElementById('orders')
    let isMarked = false
    const look = () => {
      for (let part = orders; part; part = part.parentElement) seen.opacities.add(getComputedStyle(part).opacity)
      if (orders.hasAttribute('data-changed') !== isMarked) {
        isMarked = !isMarked
        if (isMarked) seen.marks.push(performance.now())
      }
      requestAnimationFrame(look)
    }
    look()`)
  for (let sold = 4; sold < 8; sold++) {
    await sell(fixture, { eventId, dayId: 41 }, sold)
    await until('it is shown', async () => (await page.locator('#orders').textContent()) === String(sold))
  }
  await until('the mark ends', async () => (await page.locator('#orders[data-changed]').count()) === 0)
  await sell(fixture, { eventId, dayId: 41 }, 8)
  await untilTrue(page, "document.querySelector('#orders[data-changed]') !== null")
  const { opacities, marks } = (await page.evaluate(
    '({ opacities: [...seen.opacities], marks: seen.marks })',
  )) as { opacities: string[]; marks: number[] }
  expect(opacities).toEqual(['1'])
  expect(marks.length).toBeGreaterThan(1)
  // A mark is seen with the frame after it.
  for (const [index, at] of marks.entries())
    if (index > 0) expect(at - (marks[index - 1] ?? 0)).toBeGreaterThan(1_000 - 17)
})

test('a screen whose link is revoked says so', async () => {
  const office = await newOffice(fixture)
  const eventId = await eventWith(office, 'Sagra', 3)
  const page = await open(await newLink(office, eventId))
  await shows(page, 'Sagra | 4 Sept 2026 | 3 | Live')
  await sql`update screen_links set revoked_at = now() where event_id = ${eventId}`.execute(fixture.db)
  await untilTrue(page, says('This screen link has ended'))
  await expectAccessible(page)
})

test('a screen without money counts one order as one', async () => {
  const office = await newOffice(fixture)
  const page = await open(await newLink(office, await eventWith(office, 'Sagra', 1), 'portions'))
  await untilTrue(page, String.raw`/\b1 order(?!s)/.test(document.body.innerText)`)
})

test('a television of 2021 shows a link, dark if it wants it so', async () => {
  const office = await newOffice(fixture)
  const eventId = await eventWith(office, 'Sagra', 3)
  const television = await newContext({ colorScheme: 'dark' })
  await television.addInitScript(oldBrowser)
  const page = await television.newPage()
  const thrown: string[] = []
  page.on('pageerror', ({ message }) => thrown.push(message))
  await page.goto(await newLink(office, eventId))
  await shows(page, 'Sagra | 4 Sept 2026 | 3 | Live')
  await sell(fixture, { eventId, dayId: 41 }, 4)
  await shows(page, 'Sagra | 4 Sept 2026 | 4 | Live')
  const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
  expect(await background()).toBe('rgb(18, 21, 23)')
  await page.emulateMedia({ colorScheme: 'light' })
  expect(await background()).toBe('rgb(250, 248, 245)')
  expect(thrown).toEqual([])
  await television.close()
})

test.each(['money', 'portions', 'kitchen'])(
  'a screen of %s is one screen of every size, nothing is cut, and all can be read from afar',
  async shows => {
    const office = await newOffice(fixture)
    const eventId = await sellMenu(fixture, office)
    const page = await open(await newLink(office, eventId, shows))
    await untilTrue(page, "document.querySelector('#best li, .column .item') !== null")
    await page.evaluate("document.getElementById('hold').click()")
    await untilTrue(page, "document.body.classList.contains('idle')")
    expect(await page.evaluate(says('Full screen'))).toBe(false)
    expect(await page.evaluate('getComputedStyle(document.body).cursor')).toBe('none')
    await sellMore(fixture, eventId)
    if (shows === 'money') await untilTrue(page, "document.getElementById('orders').textContent === '161'")
    else {
      await untilTrue(page, says('+1,017'))
      await untilTrue(page, String.raw`/\+ = sold since 2\d:\d\d/.test(document.body.innerText)`)
    }
    if (shows === 'kitchen') {
      await listDays(fixture, eventId, [{ ...friday, closedAt: midnight }])
      await untilTrue(page, says('Closed '))
    }
    await expectOneScreen(page, [longName], async size => {
      await page.emulateMedia({ colorScheme: 'dark' })
      await picture(page, `screen-${shows}-${size}-dark`)
      await page.emulateMedia({ colorScheme: 'light' })
      await picture(page, `screen-${shows}-${size}`, shows !== 'kitchen' && size === '1280x720')
    })
    for (const at of [200, 300]) await page.mouse.move(at, at)
    await untilTrue(page, `${says('Full screen')} && (${shows !== 'money'} || !${says('Stay on this page')})`)
    await expectAccessible(page)
  },
)
