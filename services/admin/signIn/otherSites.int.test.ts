import { expect, test, vi } from 'vitest'
import { csrfOf, newOffice, newVisitor, useFixture } from '../test/fixture.ts'

const fixture = useFixture()

const visitor = (address?: string) => newVisitor(fixture.app, address)

const keyForm = { name: 'till', scope: 'events:read', eventId: '', ends: 'never' }

async function keysOf(organizationId: string): Promise<number> {
  const keys = fixture.db.selectFrom('api_keys').selectAll().where('organization_id', '=', organizationId)
  return (await keys.execute()).length
}

test.for([
  { why: 'without a token', form: {} as Record<string, string> },
  { why: 'with a token that was made up', form: { _csrf: 'x-y-z' } },
])('a form that is sent $why changes nothing', async ({ form }) => {
  const { email, organizationId } = await newOffice(fixture)
  const someone = visitor()
  await someone.signIn(email)
  await someone.get('/keys/new')
  const warn = vi.fn()
  const { log } = fixture.app
  const child = vi.spyOn(log, 'child').mockImplementation(() => Object.assign(Object.create(log), { warn }))
  const sent = await someone.postBare('/keys', { ...keyForm, ...form }, { 'sec-fetch-site': 'same-origin' })
  expect(sent.statusCode).toBe(403)
  // Anybody can send them without end.
  expect([child.mock.calls.length > 0, warn.mock.calls]).toEqual([true, []])
  child.mockRestore()
  expect(await keysOf(organizationId)).toBe(0)
})

test('a form with the token and the cookie of another session changes nothing', async () => {
  const [own, other] = [await newOffice(fixture), await newOffice(fixture)]
  const [victim, attacker] = [visitor(), visitor()]
  await victim.signIn(own.email)
  await attacker.signIn(other.email)
  const page = (await attacker.get('/keys/new')).body
  const token = csrfOf(page)
  // What another host of the domain can do over plain HTTP: plant the cookie that belongs to its token.
  victim.cookies.set('tally_csrf', attacker.cookies.get('tally_csrf') ?? '')
  expect((await victim.postBare('/keys', { ...keyForm, _csrf: token })).statusCode).toBe(403)
  expect(await keysOf(own.organizationId)).toBe(0)
  expect((await attacker.postBare('/keys', { ...keyForm, _csrf: token })).statusCode).toBe(201)
})

test.for([
  { why: 'another site', headers: { 'sec-fetch-site': 'cross-site' } as Record<string, string> },
  { why: 'another host of the same site', headers: { 'sec-fetch-site': 'same-site' } },
  { why: 'another origin', headers: { origin: 'https://evil.example' } },
  { why: 'a page that hides where it is', headers: { origin: 'null' } },
])('a form from $why changes nothing, even with its token', async ({ headers }) => {
  const { email, organizationId } = await newOffice(fixture)
  const someone = visitor()
  await someone.signIn(email)
  expect((await someone.post('/keys', keyForm, { from: '/keys/new', headers })).statusCode).toBe(403)
  expect(await keysOf(organizationId)).toBe(0)
  const own = { 'sec-fetch-site': 'same-origin', origin: 'http://admin.test' }
  expect((await someone.post('/keys', keyForm, { from: '/keys/new', headers: own })).statusCode).toBe(201)
})

test('the content security policy allows nothing inline and nothing from other origins', async () => {
  const { headers, body } = await visitor().get('/sign-in')
  expect(headers['content-security-policy']).toBe(
    "default-src 'none';script-src 'self';style-src 'self';img-src 'self';connect-src 'self';form-action 'self';base-uri 'none';frame-ancestors 'none'",
  )
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'strict-transport-security': expect.stringMatching(/^max-age=\d{8}/),
  })
  for (const name of ['server', 'x-powered-by']) expect(headers).not.toHaveProperty(name)
  expect(body).not.toMatch(/<script(?![^>]*src=")|style="| on\w+="/)
})
