import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { countAttempt, limits } from '../signIn/attempts.ts'
import { codeOf, withApp } from '../test/apps.ts'
import {
  csrfOf,
  newOffice,
  newVisitor,
  openFixture,
  password,
  resetPath,
  useFixture,
} from '../test/fixture.ts'

const fixture = useFixture()

/** Signs in with the password, and enters a code. */
async function enterCode(email: string, code: string, visitor = newVisitor(fixture.app)) {
  const first = await visitor.signIn(email)
  expect([first.statusCode, first.headers.location]).toEqual([303, '/sign-in/code?next=%2F'])
  expect((await visitor.get('/keys')).statusCode).toBe(303)
  return visitor.post('/sign-in/code', { code, next: '/keys' }, { from: '/sign-in/code' })
}

/** As enterCode; returns whether it signs in. */
async function enter(email: string, code: string, visitor = newVisitor(fixture.app)) {
  const reply = await enterCode(email, code, visitor)
  return { status: reply.statusCode, isIn: (await visitor.get('/keys')).statusCode === 200 }
}

test('with a second factor, a sign-in needs the password and a code, which is accepted once', async () => {
  const { email, secret } = await withApp(fixture)
  const code = codeOf(secret)
  expect(await enter(email, '000000')).toEqual({ status: 401, isIn: false })
  expect(await enter(email, code)).toEqual({ status: 303, isIn: true })
  expect(await enter(email, code)).toEqual({ status: 401, isIn: false })
  expect(await enter(email, codeOf(secret, 1))).toEqual({ status: 303, isIn: true })
})

test('of two concurrent uses of a code, one signs in', async () => {
  const { email, secret } = await withApp(fixture)
  const code = codeOf(secret)
  const both = await Promise.all([enter(email, code), enter(email, code)])
  expect(both.map(({ isIn }) => isIn).toSorted()).toEqual([false, true])
})

test('a recovery code replaces the app once, and only its hash is stored', async () => {
  const { email, recovery, visitor } = await withApp(fixture)
  const [code = ''] = recovery
  const other = await withApp(fixture)
  expect(await enter(other.email, code)).toEqual({ status: 401, isIn: false })
  expect(await enter(email, code.toLowerCase())).toEqual({ status: 303, isIn: true })
  expect(await enter(email, code)).toEqual({ status: 401, isIn: false })
  for (const path of ['/account', '/account/second-factor'])
    expect((await visitor.get(path)).body).toContain('9 recovery codes')
  expect((await visitor.get('/audit')).body).toContain('Signed in with a recovery code')
  const { rows } = await fixture.run(sql`select recovery_codes::text as row from recovery_codes`)
  for (const one of recovery) expect(JSON.stringify(rows)).not.toContain(one.replaceAll('-', ''))
})

test('codes are limited like passwords, and a right password does not reset the count', async () => {
  const { email, secret } = await withApp(fixture, '203.0.113.30')
  const visitor = newVisitor(fixture.app, '203.0.113.31')
  const statuses: number[] = []
  for (let attempt = 0; attempt < limits.pair.attempts / 2; attempt++) {
    statuses.push((await visitor.signIn(email)).statusCode)
    const form = { code: '000000', next: '/' }
    statuses.push((await visitor.post('/sign-in/code', form, { from: '/sign-in/code' })).statusCode)
  }
  const form = { code: codeOf(secret), next: '/' }
  statuses.push((await visitor.post('/sign-in/code', form, { from: '/sign-in/code' })).statusCode)
  expect(statuses).toEqual([...Array(5).fill([303, 401]).flat(), 429])
})

test('a sign-in with a code resets the attempts', async () => {
  const { email, recovery } = await withApp(fixture)
  for (const code of recovery.slice(0, limits.pair.attempts / 2 + 1))
    expect((await enter(email, code, newVisitor(fixture.app, '203.0.113.33'))).isIn).toBe(true)
})

test('of two recovery codes sent at once after one password, one signs in and the other stays', async () => {
  const { email, recovery, visitor } = await withApp(fixture)
  const other = newVisitor(fixture.app)
  await other.signIn(email)
  const token = csrfOf((await other.get('/sign-in/code')).body)
  const replies = await Promise.all(
    recovery.slice(0, 2).map(code => other.postBare('/sign-in/code', { _csrf: token, code, next: '/' })),
  )
  expect(replies.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 400])
  expect((await visitor.get('/account/second-factor')).body).toContain('9 recovery codes')
})

const stranger = () => newVisitor(fixture.app, '203.0.113.62')

/** Counts wrong codes from browsers that an account does not know, without their passwords. */
async function countWrong(organizationId: string, times: number) {
  const { rows } = await fixture.run(sql<{ id: string }>`
select administrator_id as id from administrators where organization_id = ${organizationId}`)
  for (let n = 0; n < times; n++) await countAttempt(fixture.db, 'code', rows[0]?.id ?? '')
}

test('who knows the password has 30 codes a day; a recovery code or a known browser still signs the owner in', async () => {
  const { email, secret, recovery, visitor, organizationId } = await withApp(fixture, '203.0.113.61')
  await visitor.post('/sign-out', {}, { from: '/keys' })
  const warnings = vi.spyOn(fixture.deps.logger, 'warn')
  const statuses: number[] = []
  for (const before of [9, 18, 0]) {
    await countWrong(organizationId, before)
    statuses.push((await enterCode(email, '000000', stranger())).statusCode)
  }
  expect(statuses).toEqual([401, 401, 401])
  expect(warnings.mock.calls.map(([, text]) => text)).toEqual(['10 wrong codes of a second factor'])
  warnings.mockRestore()
  const refused = await enterCode(email, codeOf(secret), stranger())
  expect([refused.statusCode, Number(refused.headers['retry-after']) > 80_000]).toEqual([429, true])
  expect(refused.body).toContain('accepted again in 24 hours. Until then, go back and enter a recovery code')

  const warned = '/account/wrong-codes?next=%2Fkeys'
  expect((await enterCode(email, recovery[0] ?? '', stranger())).headers.location).toBe(warned)
  expect((await enterCode(email, codeOf(secret), visitor)).headers.location).toBe(warned)
  const { body } = await visitor.get(warned)
  expect(body).toContain('3 wrong codes of your second factor')
  expect(body).toContain('href="/keys">Continue')
  expect((await visitor.get('/audit')).body).toContain('"What">Wrong code of the second factor')
  const fields = { current: password, password: 'un altro gelato alla fragola' }
  await visitor.post('/account/password', fields, { from: '/account' })
  expect((await visitor.get(warned)).headers.location).toBe('/keys')
})

test('right codes do not count as wrong ones, and a known browser’s wrong ones do not warn its owner', async () => {
  const { email, secret, visitor, organizationId } = await withApp(fixture, '203.0.113.61')
  await visitor.post('/sign-out', {}, { from: '/keys' })
  await countWrong(organizationId, limits.code.attempts - 1)
  const right = await enterCode(email, codeOf(secret), stranger())
  for (const wrong of Array(3).fill('000000'))
    expect((await enterCode(email, wrong, visitor)).statusCode).toBe(401)
  const again = await enterCode(email, codeOf(secret, 1), stranger())
  expect([right.headers.location, again.headers.location]).toEqual(['/keys', '/keys'])
})

test('a session cannot guess more codes than who knows the password', async () => {
  const { visitor, organizationId } = await withApp(fixture, '203.0.113.61')
  await countWrong(organizationId, limits.code.attempts)
  visitor.cookies.delete('tally_device')
  const form = { password: '000000', next: '/' }
  expect((await visitor.post('/confirm', form, { from: '/confirm' })).statusCode).toBe(429)
})

test('a code without the password before it, or five minutes later, is refused', async () => {
  const { email, secret } = await withApp(fixture)
  const stranger = newVisitor(fixture.app)
  const send = () =>
    stranger.post('/sign-in/code', { code: codeOf(secret), next: '/' }, { from: '/sign-in/code' })
  expect((await send()).statusCode).toBe(400)
  await stranger.signIn(email)
  // What is accepted once as a sign-in's first half sets no password.
  expect((await stranger.get(`/reset/${stranger.cookies.get('tally_code')}`)).statusCode).toBe(404)
  await fixture.run(sql`update one_time_tokens set ends_at = ends_at - interval '5 minutes'`)
  expect((await send()).statusCode).toBe(400)
})

test('the second factor is turned off with a code only, and a code confirms a sign-in', async () => {
  const { email, secret, visitor } = await withApp(fixture)
  const off = '/account/second-factor/remove'
  const from = '/account/second-factor'
  expect((await visitor.post(off, { code: password }, { from })).statusCode).toBe(400)
  await fixture.run(sql`update admin_sessions set confirmed_at = now() - interval '30 minutes'`)
  const confirm = '/confirm?next=%2Faccount%2Fsecond-factor'
  expect((await visitor.get(from)).headers.location).toBe(confirm)
  const given = { password, next: '/keys/new' }
  expect((await visitor.post('/confirm', given, { from: '/confirm' })).headers.location).toBe('/keys/new')
  await fixture.run(sql`update admin_sessions set confirmed_at = now() - interval '30 minutes'`)
  const late = await visitor.post(off, { code: codeOf(secret) }, { from: '/account' })
  expect(late.headers.location).toBe(`${confirm}%3Fagain%3Dyes`)
  const form = { password: codeOf(secret), next: from }
  const confirmed = await visitor.post('/confirm', form, { from: '/confirm' })
  expect(confirmed.headers.location).toBe(from)
  expect((await visitor.post(off, { code: codeOf(secret, 1) }, { from })).statusCode).toBe(303)
  expect((await newVisitor(fixture.app).signIn(email)).headers.location).toBe('/')
})

test('a reset link removes the second factor when it is used, not before', async () => {
  const { email } = await withApp(fixture)
  const path = await resetPath(fixture, email, { removesSecondFactor: true })
  const told = (await newVisitor(fixture.app).get(path)).body
  expect(told).toContain('Its second factor is turned off.')
  const attacker = await newVisitor(fixture.app, '203.0.113.50').signIn(email)
  expect(attacker.headers.location).toMatch(/^\/sign-in\/code/)
  const visitor = newVisitor(fixture.app)
  const next = 'un altro gelato alla fragola'
  await visitor.post(path, { password: next }, { from: path })
  expect((await visitor.signIn(email, next)).headers.location).toBe('/')
  expect((await visitor.get('/audit')).body).toContain('Turned the second factor off')
})

test('with passwords off there is no form, no reset link and no way in with a password', async () => {
  const off = await openFixture({ allowsPasswords: false })
  const { email } = await newOffice(off)
  const visitor = newVisitor(off.app)
  const page = (await visitor.get('/sign-in')).body
  const statuses = [
    // No page has a form whose token a password could be sent with.
    (await visitor.post('/sign-in', { email, password })).statusCode,
    (await visitor.get('/reset/x')).statusCode,
    (await visitor.get('/sign-in/code')).statusCode,
  ]
  await off.close()
  expect(page).not.toContain('type="password"')
  expect(statuses).toEqual([403, 404, 404])
})
