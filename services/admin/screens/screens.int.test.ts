import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Fixture, newEvent, newOffice, newVisitor, openFixture } from '../test/fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** An administrator with an event, and a screen that opened a link to it. */
async function withScreen() {
  const office = await newOffice(fixture)
  const visitor = newVisitor(fixture.app)
  await visitor.signIn(office.email)
  const eventId = await newEvent(fixture, office.organizationId)
  const made = await visitor.post('/screens', { name: 'Hall', eventId }, { from: '/screens' })
  expect(made.statusCode).toBe(201)
  const link = /\/screen\/[\w-]{43}/.exec(made.body)?.[0] ?? ''
  const screen = newVisitor(fixture.app)
  const opened = await screen.get(link)
  const page = String(opened.headers.location)
  expect([opened.statusCode, page]).toEqual([303, expect.stringMatching(/^\/screen\/\d+$/)])
  return { ...office, visitor, eventId, link, screen, page }
}

test('a link shows the live screen of its event', async () => {
  const { screen, link, page } = await withScreen()
  const { statusCode, body } = await screen.get(page)
  expect(statusCode).toBe(200)
  expect(body).toContain('Sagra del Pesce')
  expect(body).toContain(`data-stream="${page}/stream"`)
  expect(body).not.toContain('<nav')
  expect(body).not.toContain(link)
})

test('a link shows nothing else and changes nothing', async () => {
  const { screen, eventId, page } = await withScreen()
  for (const path of [
    '/',
    '/live',
    `/live?eventId=${eventId}`,
    '/keys',
    '/keys/new',
    '/usage',
    '/audit',
    '/audit.csv',
    '/account',
    '/screens',
  ])
    expect([path, (await screen.get(path)).headers.location]).toEqual([
      path,
      expect.stringMatching(/^\/sign-in\?next=/),
    ])
  expect((await screen.get(`/live/stream?eventId=${eventId}&day=41`)).statusCode).toBe(401)
  const form = { name: 'till', scope: 'events:read', eventId: '', expires: 'never' }
  expect((await screen.post('/keys', form, { from: page })).statusCode).not.toBe(201)
})

test('links are listed with their name, and a revoked one ends at once', async () => {
  const { visitor, screen, link, page } = await withScreen()
  const list = (await visitor.get('/screens')).body
  expect(list).toMatch(/Hall.*Sagra del Pesce/s)
  const path = /\/screens\/\d+\/revoke/.exec(list)?.[0] ?? ''
  expect((await visitor.post(path, {}, { from: '/screens' })).statusCode).toBe(303)
  expect((await visitor.get('/screens')).body).not.toContain('Hall')
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
    sql`update screen_links set ends_at = ends_at - make_interval(days => ${days}) where event_id = ${eventId}`.execute(
      fixture.db,
    )
  await age(29)
  expect((await screen.get(page)).statusCode).toBe(200)
  await age(1)
  expect((await screen.get(page)).statusCode).toBe(404)
})

test('an event or link of another organization is neither shown nor revoked', async () => {
  const own = await withScreen()
  const other = await withScreen()
  const form = { name: 'Hall', eventId: other.eventId }
  expect((await own.visitor.post('/screens', form, { from: '/screens' })).statusCode).toBe(400)
  const path = /\/screens\/\d+\/revoke/.exec((await other.visitor.get('/screens')).body)?.[0] ?? ''
  expect((await own.visitor.post(path, {}, { from: '/screens' })).statusCode).toBe(404)
  expect((await other.screen.get(other.page)).statusCode).toBe(200)
})

test('the links of an organization are bounded, also if several are made at once', async () => {
  const { visitor, eventId, organizationId } = await withScreen()
  await sql`
insert into screen_links (token_sha256, organization_id, event_id, name, created_by, ends_at)
select sha256(convert_to(${organizationId} || number, 'utf8')), ${organizationId}, ${eventId}, 'x', 'x', now() + interval '1 day'
from generate_series(2, 99) as number`.execute(fixture.db)
  const form = { name: 'One more', eventId }
  const waiting = async () => {
    const { rows } = await sql<{ count: number }>`
select count(*)::int as count from pg_locks join pg_database on database = pg_database.oid
where datname = current_database() and not granted`.execute(fixture.db)
    return rows[0]?.count
  }
  const { made } = await fixture.db.transaction().execute(async tx => {
    // Nobody can insert a link: each has counted them, or waits for one that has.
    await sql`lock table screen_links in share mode`.execute(tx)
    const made = Array.from({ length: 3 }, () => visitor.post('/screens', form, { from: '/screens' }))
    await expect.poll(waiting, { timeout: 30_000 }).toBe(3)
    return { made }
  })
  const codes = (await Promise.all(made)).map(({ statusCode }) => statusCode)
  expect(codes.toSorted()).toEqual([201, 409, 409])
})

test('only the hash of a link is stored', async () => {
  const { link } = await withScreen()
  const { rows } = await sql`select screen_links::text as row from screen_links`.execute(fixture.db)
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
