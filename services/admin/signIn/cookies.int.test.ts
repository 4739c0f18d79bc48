import { expect, test } from 'vitest'
import { csrfOf, newOffice, newVisitor, openFixture, password, useFixture } from '../test/fixture.ts'

const fixture = useFixture()

const visitor = (address?: string) => newVisitor(fixture.app, address)

test('without TLS a session’s cookie is HttpOnly and SameSite', async () => {
  const { email } = await newOffice(fixture)
  const plain = await visitor().signIn(email)
  const cookie = plain.cookies.find(({ name }) => name === 'tally_session')
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' })
  expect(cookie).not.toHaveProperty('secure')
})

test('all cookies over TLS have the prefix __Host-', async () => {
  const behindTls = await openFixture({ trustedProxies: ['192.0.2.0/24'] })
  const { email } = await newOffice(behindTls)
  const someone = newVisitor(behindTls.app)
  const headers = { 'x-forwarded-proto': 'https' }
  const page = await someone.get('/sign-in', headers)
  const token = csrfOf(page.body)
  const reply = await someone.postBare('/sign-in', { _csrf: token, email, password }, headers)
  await behindTls.close()
  expect(reply.statusCode).toBe(303)
  const given = [...page.cookies, ...reply.cookies].filter(({ value }) => value !== '')
  const names = given.map(({ name }) => name)
  expect(names).toEqual(['__Host-tally_csrf', '__Host-tally_session', '__Host-tally_device'])
  for (const cookie of given)
    expect(cookie).toMatchObject({ secure: true, httpOnly: true, sameSite: 'Lax', path: '/' })
})

test('two installations on one host do not sign each other out, and a session of 0.2.0 stays', async () => {
  const other = await openFixture()
  const [mine, theirs] = [await newOffice(fixture), await newOffice(other)]
  // A browser sends the cookies of a host to all of its ports.
  const cookies = new Map<string, string>()
  const here = newVisitor(fixture.app, '192.0.2.1', { host: 'hall.test:8081', cookies })
  const there = newVisitor(other.app, '192.0.2.1', { host: 'hall.test:8082', cookies })
  await here.signIn(mine.email)
  await there.signIn(theirs.email)
  expect((await here.get('/account')).body).toContain(mine.email)
  expect((await there.get('/account')).body).toContain(theirs.email)
  await here.post('/sign-out', {}, { from: '/account' })
  expect((await here.get('/account')).statusCode).toBe(303)
  expect((await there.get('/account')).statusCode).toBe(200)
  await other.close()

  await here.signIn(mine.email)
  const old = new Map([['tally_session', cookies.get('tally_session_8081') ?? '']])
  const before = newVisitor(fixture.app, '192.0.2.1', { host: 'hall.test:8081', cookies: old })
  expect((await before.get('/account')).statusCode).toBe(200)
  await before.post('/sign-out', {}, { from: '/account' })
  expect((await before.get('/account')).statusCode).toBe(303)
})

test('behind a proxy that names no port, the cookies of two installations differ by ADMIN_URL', async () => {
  const secure = await openFixture({ publicUrl: 'https://hall.test:8443' })
  const { email } = await newOffice(secure)
  const visitor = newVisitor(secure.app, '192.0.2.1', { host: 'hall.test' })
  await visitor.signIn(email)
  const names = [...visitor.cookies.keys()].toSorted()
  expect(names).toEqual(['__Host-tally_device_8443', '__Host-tally_session_8443'])
  await secure.close()
})
