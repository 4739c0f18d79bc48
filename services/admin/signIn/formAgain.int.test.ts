import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { csrfOf, newEvent, newVisitor, password, signedIn, useFixture } from '../test/fixture.ts'

const fixture = useFixture()

const till = { name: 'Till “1” & 2', scope: 'orders:read', eventId: '', ends: 'week' }
/** What the form of a new key is filled in with. */
function filledIn(body: string) {
  const selected = [...body.matchAll(/<option value="([^"]*)" selected>/g)].map(([, value]) => value)
  const scopes = [...body.matchAll(/name="scope" value="([^"]+)" checked/g)].map(([, scope]) => scope)
  return { name: /id="name" [^>]*value="([^"]*)"/.exec(body)?.[1], scopes, selected }
}
const asTyped = { name: 'Till “1” &amp; 2', scopes: ['orders:read'], selected: ['week'] }

test('a session that ended while a form was filled in says so, and leads back to the form with its fields', async () => {
  const { visitor, email } = await signedIn(fixture)
  const { body } = await visitor.get('/keys/new')
  await fixture.db.deleteFrom('admin_sessions').execute()
  const sent = await visitor.postBare('/keys', { ...till, _csrf: csrfOf(body) })
  expect(sent.statusCode).toBe(303)
  const signIn = (await visitor.get(String(sent.headers.location))).body
  expect(signIn).toContain('You were signed out. Sign in to go on.')
  const next = /name="next" value="([^"]+)"/.exec(signIn)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const back = await visitor.post('/sign-in', { email, password, next })
  const form = (await visitor.get(String(back.headers.location))).body
  expect([form.includes('Nothing was changed yet'), filledIn(form)]).toEqual([true, asTyped])
})

test('a page that is opened after the session ended says so; a first visit does not', async () => {
  const { visitor } = await signedIn(fixture)
  await fixture.db.deleteFrom('admin_sessions').execute()
  const { location } = (await visitor.get('/usage')).headers
  expect(location).toBe('/sign-in?ended=yes&next=%2Fusage')
  expect((await newVisitor(fixture.app).get('/usage')).headers.location).toBe('/sign-in?next=%2Fusage')
})

test('a form whose token does not fit does nothing, and opens again with its fields and a new token', async () => {
  const { visitor, organizationId } = await signedIn(fixture)
  const eventId = await newEvent(fixture, organizationId)
  const sent = await visitor.postBare('/keys', { ...till, eventId, _csrf: 'old' })
  expect(sent.statusCode).toBe(403)
  const next = String(sent.headers.refresh).replace('0; url=', '')
  expect(sent.body).toContain(`href="${next.replaceAll('&', '&amp;')}"`)
  const again = (await visitor.get(next)).body
  expect(again).toContain('This form had expired. Check it and send it again.')
  expect(filledIn(again)).toEqual({ ...asTyped, selected: [eventId, 'week'] })
  expect((await visitor.postBare('/keys', { ...till, eventId, _csrf: csrfOf(again) })).statusCode).toBe(201)
})

test('a screen link’s form opens again as it was sent', async () => {
  const { visitor, organizationId } = await signedIn(fixture)
  await newEvent(fixture, organizationId)
  const screen = { name: 'Hall', shows: 'portions', ends: 'week', eventId: 'x', area: '', lastDay: '' }
  const sent = await visitor.postBare('/screens', screen)
  const again = (await visitor.get(String(sent.headers.refresh).replace('0; url=', ''))).body
  expect(again).toMatch(/value="Hall"/)
  expect(again).toMatch(/value="portions" required checked/)
  expect(again).toMatch(/value="week" selected/)
})

test('who must confirm first comes back to the fields, too', async () => {
  const { visitor } = await signedIn(fixture)
  await fixture.run(sql`update admin_sessions set confirmed_at = 'epoch'`)
  const from = { from: '/account' }
  const { location } = (await visitor.post('/keys', till, from)).headers
  expect(location).toContain('/confirm?next=%2Fkeys%2Fnew%3Fagain%3Dyes%26name%3DTill')
  const next = new URL(String(location), 'http://admin.test').searchParams.get('next') ?? ''
  const back = await visitor.post('/confirm', { password, next }, { from: '/confirm' })
  const { body } = await visitor.get(String(back.headers.location))
  expect([body.includes('Nothing was changed yet'), filledIn(body)]).toEqual([true, asTyped])
})

test('no password or code is in an address, and no form leads to another site', async () => {
  const { visitor } = await signedIn(fixture)
  for (const [path, page] of [
    ['/account/password', '/account?expired=yes'],
    ['/account/second-factor/remove', '/account/second-factor?expired=yes'],
    ['/sign-in', '/sign-in?expired=yes'],
    ['/confirm', '/confirm?expired=yes'],
    ['//evil.example/x', '/sign-in?ended=yes&next=%2F%3Fagain%3Dyes'],
  ] as const) {
    const fields = { password: 'hidden', current: 'hidden', code: 'hidden', _csrf: 'old' }
    const { headers } = await visitor.postBare(path, fields)
    expect([path, headers.refresh]).toEqual([path, `0; url=${page}`])
    if (page.startsWith('/account'))
      expect((await visitor.get(page)).body).toContain('This form had expired. Check it and send it again.')
  }
  const factorOnly = await visitor.postBare('/confirm', { next: '/account/passkeys', factor: 'yes' })
  expect(factorOnly.headers.refresh).toBe('0; url=/confirm?expired=yes&next=%2Faccount%2Fpasskeys&factor=yes')
  const long = await visitor.postBare('/keys', { ...till, name: 'n'.repeat(5_000) })
  expect(long.headers.refresh).toBe('0; url=/keys/new?expired=yes')
})

test('the form of an old tab signs out if the browser says where it is from', async () => {
  const { visitor } = await signedIn(fixture)
  const old = { _csrf: 'old' }
  const statuses = [(await visitor.postBare('/sign-out', old)).statusCode]
  statuses.push((await visitor.get('/keys')).statusCode)
  const { headers } = await visitor.postBare('/sign-out', old, { origin: 'http://admin.test' })
  expect([...statuses, headers.location]).toEqual([403, 200, '/sign-in'])
  expect((await visitor.get('/keys')).statusCode).toBe(303)
})
