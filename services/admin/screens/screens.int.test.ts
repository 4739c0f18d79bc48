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
  expect([opened.statusCode, opened.headers.location]).toEqual([303, '/screen'])
  return { ...office, visitor, eventId, link, screen }
}

test('a link shows the live screen of its event', async () => {
  const { screen, link } = await withScreen()
  const { statusCode, body } = await screen.get('/screen')
  expect(statusCode).toBe(200)
  expect(body).toContain('Sagra del Pesce')
  expect(body).toContain('data-stream="/screen/stream"')
  expect(body).not.toContain('<nav')
  expect(body).not.toContain(link)
})

test('a link shows nothing else and changes nothing', async () => {
  const { screen, eventId } = await withScreen()
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
  expect((await screen.post('/keys', form, { from: '/screen' })).statusCode).not.toBe(201)
})

test('links are listed with their name, and a revoked one ends at once', async () => {
  const { visitor, screen, link } = await withScreen()
  const list = (await visitor.get('/screens')).body
  expect(list).toMatch(/Hall.*Sagra del Pesce/s)
  const path = /\/screens\/\d+\/revoke/.exec(list)?.[0] ?? ''
  expect((await visitor.post(path, {}, { from: '/screens' })).statusCode).toBe(303)
  expect((await visitor.get('/screens')).body).not.toContain('Hall')
  const statuses = [
    await screen.get('/screen'),
    await screen.get('/screen/stream'),
    await newVisitor(fixture.app).get(link),
  ]
  expect(statuses.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404])
  const { body } = await visitor.get('/audit')
  expect(body).toContain('Created a screen link')
  expect(body).toContain('Revoked a screen link')
})

test('a link ends after 30 days', async () => {
  const { screen, eventId } = await withScreen()
  const age = (days: number) =>
    sql`update screen_links set ends_at = ends_at - make_interval(days => ${days}) where event_id = ${eventId}`.execute(
      fixture.db,
    )
  await age(29)
  expect((await screen.get('/screen')).statusCode).toBe(200)
  await age(1)
  expect((await screen.get('/screen')).statusCode).toBe(404)
})

test('an event or link of another organization is neither shown nor revoked', async () => {
  const own = await withScreen()
  const other = await withScreen()
  const form = { name: 'Hall', eventId: other.eventId }
  expect((await own.visitor.post('/screens', form, { from: '/screens' })).statusCode).toBe(400)
  const path = /\/screens\/\d+\/revoke/.exec((await other.visitor.get('/screens')).body)?.[0] ?? ''
  expect((await own.visitor.post(path, {}, { from: '/screens' })).statusCode).toBe(404)
  expect((await other.screen.get('/screen')).statusCode).toBe(200)
})

test('the links of an organization are bounded', async () => {
  const { visitor, eventId, organizationId } = await withScreen()
  await sql`
insert into screen_links (token_sha256, organization_id, event_id, name, created_by, ends_at)
select sha256(convert_to(${organizationId} || number, 'utf8')), ${organizationId}, ${eventId}, 'x', 'x', now() + interval '1 day'
from generate_series(2, 100) as number`.execute(fixture.db)
  const form = { name: 'One more', eventId }
  expect((await visitor.post('/screens', form, { from: '/screens' })).statusCode).toBe(409)
})

test('only the hash of a link is stored', async () => {
  const { link } = await withScreen()
  const { rows } = await sql`select screen_links::text as row from screen_links`.execute(fixture.db)
  expect(JSON.stringify(rows)).not.toContain(link.slice(-43))
})
