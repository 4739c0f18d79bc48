import { countNewOrders } from '@tally/testkit/records/countNewOrders'
import { anOrder } from '@tally/testkit/records/decoded'
import { untilLocked } from '@tally/testkit/servers/database'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { newEvent, newVisitor, useFixture } from '../test/fixture.ts'
import { readFigures } from '../test/readFigures.ts'
import { link30Days, openLink } from '../test/screenLink.ts'

const fixture = useFixture()
beforeAll(async () => {
  await fixture.app.listen({ host: '127.0.0.1', port: 0 })
})

const withScreen = (wanted?: Record<string, string>) => openLink(fixture, wanted)

test('a link shows the live screen of its event', async () => {
  const { screen, link, page, organizationId } = await withScreen()
  // Reading it would fail.
  const unreadable = { document: '[]' }
  const other = await newEvent(fixture, organizationId)
  await fixture.db.updateTable('events').set(unreadable).where('event_id', '=', other).execute()
  const { statusCode, body } = await screen.get(page)
  expect(statusCode).toBe(200)
  expect(body).toContain('Sagra del Pesce')
  expect(body).toContain(`data-stream="${page}/stream"`)
  expect(body).not.toContain('<nav')
  expect(body).not.toContain(link)
})

test('a link shows nothing else and changes nothing', async () => {
  const { screen, eventId, page } = await withScreen()
  const pages = ['/', '/live', '/keys', '/keys/new', '/usage', '/audit', '/audit.csv', '/account', '/screens']
  for (const path of [...pages, `/live?eventId=${eventId}`]) {
    const { location } = (await screen.get(path)).headers
    expect([path, location]).toEqual([path, expect.stringMatching(/^\/sign-in\?next=/)])
  }
  expect((await screen.get(`/live/stream?eventId=${eventId}&day=41`)).statusCode).toBe(401)
  const form = { name: 'till', scope: 'events:read', eventId: '', ends: 'never' }
  expect((await screen.post('/keys', form, { from: page })).statusCode).not.toBe(201)
})

test('links are listed with their name, and a revoked one ends at once', async () => {
  const { visitor, screen, link, page } = await withScreen()
  const list = (await visitor.get('/screens')).body
  expect(list).toMatch(/Hall.*Sagra del Pesce/s)
  // It asks first.
  expect(list).toMatch(/<details><summary [^>]*>Revoke<\/summary>\s*<form [^>]*revoke">/)
  const path = /\/screens\/\d+\/revoke/.exec(list)?.[0] ?? ''
  const { headers } = await visitor.post(path, {}, { from: '/screens' })
  const after = (await visitor.get(headers.location ?? '')).body
  for (const text of ['“<bdi>Hall</bdi>” is revoked.', 'There are no screen links.'])
    expect(after).toContain(text)
  const statuses = [
    await screen.get(page),
    await screen.get(`${page}/stream`),
    await newVisitor(fixture.app).get(link),
  ]
  expect(statuses.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404])
  const { body } = await visitor.get('/audit')
  expect(body).toContain('Created a screen link')
  expect(body).toContain('Revoked a screen link')
})

test('a link ends after 30 days', async () => {
  const { screen, eventId, page } = await withScreen()
  const age = (days: number) =>
    fixture.run(
      sql`update screen_links set ends_at = ends_at - make_interval(days => ${days}) where event_id = ${eventId}`,
    )
  await age(29)
  expect((await screen.get(page)).statusCode).toBe(200)
  await age(1)
  expect((await screen.get(page)).statusCode).toBe(404)
})

test('an event or link of another organization is neither shown nor revoked', async () => {
  const own = await withScreen()
  const other = await withScreen({ name: 'Theirs' })
  const form = { ...link30Days, eventId: other.eventId }
  expect((await own.visitor.post('/screens', form, { from: '/screens' })).statusCode).toBe(400)
  const path = /\/screens\/\d+\/revoke/.exec((await other.visitor.get('/screens')).body)?.[0] ?? ''
  expect((await own.visitor.post(path, {}, { from: '/screens' })).statusCode).toBe(404)
  expect((await other.screen.get(other.page)).statusCode).toBe(200)
  const shows = async ({ visitor }: typeof own, list: string) =>
    (await visitor.get(list)).body.includes('Theirs')
  expect([await shows(own, '/screens'), await shows(other, '/screens')]).toEqual([false, true])
  const revoked = String((await other.visitor.post(path, {}, { from: '/screens' })).headers.location)
  expect([await shows(own, revoked), await shows(other, revoked)]).toEqual([false, true])
})

test('the links of an organization are bounded, also if several are made at once', async () => {
  const { visitor, eventId, organizationId } = await withScreen()
  await fixture.run(sql`
insert into screen_links (token_sha256, organization_id, event_id, name, created_by, ends_at)
select sha256(convert_to(${organizationId} || number, 'utf8')), ${organizationId}, ${eventId}, 'x', 'x', now() + interval '1 day'
from generate_series(2, 99) as number`)
  const form = { ...link30Days, name: 'One more', eventId }
  const { made } = await fixture.db.transaction().execute(async tx => {
    // No link can be inserted: each has counted them, or waits for one that has.
    await sql`lock table screen_links in share mode`.execute(tx)
    const made = Array.from({ length: 3 }, () => visitor.post('/screens', form, { from: '/screens' }))
    await untilLocked(fixture.db, 3)
    return { made }
  })
  const codes = (await Promise.all(made)).map(({ statusCode }) => statusCode)
  expect(codes.toSorted()).toEqual([201, 409, 409])
})

test('only the hash of a link is stored', async () => {
  const { link } = await withScreen()
  const { rows } = await fixture.run(sql`select screen_links::text as row from screen_links`)
  expect(JSON.stringify(rows)).not.toContain(link.slice(-43))
})

test('a browser keeps its links apart, and a screen of 0.2.0 goes on', async () => {
  const [first, second] = [await withScreen(), await withScreen()]
  const browser = newVisitor(fixture.app)
  for (const { link } of [first, second]) await browser.get(link)
  for (const { page, eventId } of [first, second])
    expect((await browser.get(page)).body).toContain(`data-event="${eventId}"`)
  expect((await first.screen.get(second.page)).statusCode).toBe(404)

  const old = newVisitor(fixture.app)
  old.cookies.set('tally_screen', first.link.slice(-43))
  expect((await old.get('/screen')).headers.location).toBe(first.page)
  expect((await old.get(first.page)).statusCode).toBe(200)
  expect((await newVisitor(fixture.app).get('/screen')).statusCode).toBe(404)
})

test('a browser remembers its latest 40 links', async () => {
  const { link, page } = await withScreen()
  const browser = newVisitor(fixture.app)
  for (let index = 0; index < 50; index++) browser.cookies.set(`tally_screen-90000000000${100 + index}`, 'x')
  await browser.get(link)
  expect([...browser.cookies.keys()].filter(name => name.startsWith('tally_screen-'))).toHaveLength(40)
  expect((await browser.get(page)).statusCode).toBe(200)
})

test('a stream that may not begin tells the page to open itself again', async () => {
  const { visitor, screen, page, eventId } = await withScreen()
  const path = /\/screens\/\d+\/revoke/.exec((await visitor.get('/screens')).body)?.[0] ?? ''
  await visitor.post(path, {}, { from: '/screens' })
  const accept = { accept: 'text/event-stream' }
  const stranger = newVisitor(fixture.app)
  for (const reply of [
    await screen.get(`${page}/stream`, accept),
    await visitor.get('/live/stream?eventId=x', accept),
    await stranger.get(`/live/stream?eventId=${eventId}`, accept),
  ])
    expect([reply.statusCode, reply.body]).toEqual([200, 'event: signed-out\ndata: {}\n\n'])
})

/** The bytes of a screen's stream until its first figures. */
const firstFigures = ({ screen, page }: Awaited<ReturnType<typeof withScreen>>) =>
  readFigures(fixture.app, screen.cookies, `${page}/stream`)
const figuresIn = (text: string) => JSON.parse(/event: day\ndata: (.*)/.exec(text)?.[1] ?? '{}')

/** Sells one Frico in the kitchen, and two Polenta, a Frico and an item without a name at the bar, for 98.76 each. */
async function sellDinner({ eventId }: Awaited<ReturnType<typeof withScreen>>): Promise<void> {
  const line = (menuItemId: number, quantity: number) => ({
    menuItemId,
    itemName: 'x',
    quantity,
    unitPrice: 98.76,
  })
  await countNewOrders(fixture.db, [
    anOrder({ eventId, dayId: 41, areaId: 1, orderId: 'A', totalAmount: 98.76, items: [line(9, 1)] }),
    anOrder({
      eventId,
      dayId: 41,
      areaId: 2,
      orderId: 'B',
      totalAmount: 395.04,
      items: [line(8, 2), line(9, 1), line(77, 1)],
    }),
  ])
}
const money = /revenue|sales|takings|average|amount|price|currency|eur|€|98[.,]76|493[.,]8|395[.,]04/i

test('a link with money sends it, and its page has a place for it', async () => {
  const made = await withScreen()
  await sellDinner(made)
  expect((await made.screen.get(made.page)).body).toContain('Takings')
  const text = await firstFigures(made)
  expect(text).toMatch(money)
  expect(figuresIn(text)).toMatchObject({
    orders: 2,
    items: 5,
    sales: 493.8,
    best: [{ itemName: 'Polenta', revenue: 197.52 }, { itemName: 'Frico' }, { itemName: 'Item 77' }],
  })
})

test('a link without money has none in its page, nor in what its stream sends', async () => {
  const made = await withScreen({ shows: 'portions' })
  await sellDinner(made)
  const { eventId } = made
  const voucher = { menuItemId: 78, itemName: 'Voucher', quantity: 3, unitPrice: -98.76 }
  await countNewOrders(fixture.db, [anOrder({ eventId, dayId: 41, totalAmount: -296.28, items: [voucher] })])
  expect((await made.screen.get(made.page)).body).not.toMatch(money)
  const text = await firstFigures(made)
  expect(text).not.toMatch(money)
  expect(figuresIn(text)).toEqual({
    eventName: 'Sagra del Pesce',
    dayId: 41,
    date: '2026-09-04',
    opened: '',
    openedAt: 0,
    closedAt: null,
    area: null,
    orders: 3,
    portions: 5,
    items: [
      { id: 9, name: 'Frico', category: 'Secondi', sold: 2 },
      { id: 8, name: 'Polenta', category: 'Secondi', sold: 2 },
      { id: 77, name: 'Item 77', category: '', sold: 1 },
    ],
  })
})

test('the link of a kitchen has the items of its area, and no money', async () => {
  const made = await withScreen({ shows: 'kitchen', area: '1' })
  await sellDinner(made)
  expect((await made.screen.get(made.page)).body).not.toMatch(money)
  const text = await firstFigures(made)
  expect(text).not.toMatch(money)
  expect(figuresIn(text)).toMatchObject({
    area: 'Cucina',
    orders: 1,
    portions: 1,
    items: [{ name: 'Frico', sold: 1 }],
  })
  expect((await made.visitor.get('/screens')).body).toContain('Kitchen: items of Cucina')
})

test('a link of 0.2.0 goes on with money', async () => {
  const made = await withScreen({ shows: 'portions' })
  await fixture.run(sql`update screen_links set shows = default where event_id = ${made.eventId}`)
  await sellDinner(made)
  expect(figuresIn(await firstFigures(made))).toMatchObject({ sales: 493.8 })
})

test('the audit trail says what a link shows and until when; a code holds the link', async () => {
  const { visitor, eventId } = await withScreen({ shows: 'kitchen', area: '2', name: 'Bancone' })
  const form = { ...link30Days, shows: 'portions', eventId, ends: 'week' }
  const { body } = await visitor.post('/screens', form, { from: '/screens' })
  expect(body).toMatch(/role="img" aria-label="QR code with the link"><svg/)
  const trail = (await visitor.get('/audit')).body
  expect(trail).toMatch(/Bancone: Sagra del Pesce\. Kitchen: items of Bar, until [\d-]{10} \d\d:\d\d UTC/)
  expect(trail).toContain('Hall: Sagra del Pesce. Portions, no money, until ')
})

test('a form that does not fit is shown again with what is wrong, and makes no link', async () => {
  const own = await withScreen()
  const other = await withScreen()
  const post = (fields: Record<string, string>) =>
    own.visitor.post('/screens', { ...link30Days, eventId: own.eventId, ...fields }, { from: '/screens' })
  for (const [fields, sentence] of [
    [{ shows: '' }, 'Choose what the screen shows.'],
    [{ shows: 'toString' }, 'Choose what the screen shows.'],
    [{ shows: 'kitchen' }, 'Choose an area of this event.'],
    [{ shows: 'kitchen', area: `${other.eventId}:1` }, 'Choose an area of this event.'],
    [{ ends: 'year' }, 'Choose when it ends.'],
    [{ ends: 'date', lastDay: '2099-01-01' }, 'It can end at most 30 days from now.'],
  ] as const) {
    const { statusCode, body } = await post(fields)
    expect([statusCode, body]).toEqual([400, expect.stringContaining(sentence)])
  }
  expect((await own.visitor.get('/screens')).body.match(/\/revoke"/g)).toHaveLength(1)
})

test('a link ends when it was chosen to end, and its cookie with it', async () => {
  const made = await withScreen({ ends: 'day' })
  const opened = await newVisitor(fixture.app).get(made.link)
  expect(opened.cookies.find(({ name }) => name.startsWith('tally_screen-'))?.maxAge).toBeCloseTo(86_400, -2)
  const { rows } = await fixture.run(sql<{ hours: number }>`
select round(extract(epoch from ends_at - now()) / 3600)::int as hours from screen_links where event_id = ${made.eventId}`)
  expect(rows).toEqual([{ hours: 24 }])
})
