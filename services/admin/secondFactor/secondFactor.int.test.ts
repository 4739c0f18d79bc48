import { beginReset } from '@tally/access'
import { sql } from 'kysely'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { countAttempt, limits } from '../signIn/attempts.ts'
import { csrfOf, type Fixture, newOffice, newVisitor, openFixture, password } from '../test/fixture.ts'
import { openSealer } from './sealing.ts'
import { sealSecrets } from './secrets.ts'
import { useCode } from './store.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** The code that an app shows now, or some steps of 30 s later. */
const codeOf = (secret: string, later = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + later * 30_000 })

/** An administrator who has set up a second factor with the code of the step before, so that this one is unused. */
async function withFactor(from?: string) {
  const { email, organizationId } = await newOffice(fixture)
  const visitor = newVisitor(fixture.app, from)
  await visitor.signIn(email)
  const secret = secretIn((await visitor.get('/account/second-factor')).body)
  const page = '/account/second-factor'
  const wrong = await visitor.post(page, { code: '000000' }, { from: page })
  expect([wrong.statusCode, wrong.body.includes('Incorrect code.')]).toEqual([400, true])
  const made = await visitor.post(page, { code: codeOf(secret, -1) }, { from: page })
  expect(made.statusCode).toBe(200)
  const recovery = [...made.body.matchAll(/<li><code>([\w-]+)<\/code>/g)].map(([, code = '']) => code)
  expect(recovery).toHaveLength(10)
  return { email, organizationId, visitor, secret, recovery }
}
const secretIn = (page: string) => (/Secret: <code>([A-Z2-7 ]+)</.exec(page)?.[1] ?? '').replaceAll(' ', '')

/** What Postgres has of the only administrator of an organization. */
async function storedSecret(organizationId: string) {
  const { rows } = await sql<{ id: string; secret: string | null; candidate: string | null }>`
select administrator_id as id, totp_secret as secret, totp_candidate as candidate
from administrators where organization_id = ${organizationId}`.execute(fixture.db)
  return rows[0] ?? { id: '', secret: null, candidate: null }
}

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
  const { email, secret } = await withFactor()
  const code = codeOf(secret)
  expect(await enter(email, '000000')).toEqual({ status: 401, isIn: false })
  expect(await enter(email, code)).toEqual({ status: 303, isIn: true })
  expect(await enter(email, code)).toEqual({ status: 401, isIn: false })
  expect(await enter(email, codeOf(secret, 1))).toEqual({ status: 303, isIn: true })
})

test('of two concurrent uses of a code, one signs in', async () => {
  const { email, secret } = await withFactor()
  const code = codeOf(secret)
  const both = await Promise.all([enter(email, code), enter(email, code)])
  expect(both.map(({ isIn }) => isIn).toSorted()).toEqual([false, true])
})

test('a recovery code replaces the app once, and only its hash is stored', async () => {
  const { email, recovery, visitor } = await withFactor()
  const [code = ''] = recovery
  expect(await enter(email, code.toLowerCase())).toEqual({ status: 303, isIn: true })
  expect(await enter(email, code)).toEqual({ status: 401, isIn: false })
  for (const path of ['/account', '/account/second-factor'])
    expect((await visitor.get(path)).body).toContain('9 recovery codes')
  expect((await visitor.get('/audit')).body).toContain('Signed in with a recovery code')
  const { rows } = await sql`select recovery_codes::text as row from recovery_codes`.execute(fixture.db)
  for (const one of recovery) expect(JSON.stringify(rows)).not.toContain(one.replaceAll('-', ''))
})

test('codes are limited like passwords, and a right password does not reset the count', async () => {
  const { email, secret } = await withFactor('203.0.113.30')
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

test('of two recovery codes sent at once after one password, one signs in and the other stays', async () => {
  const { email, recovery, visitor } = await withFactor()
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
  const { id } = await storedSecret(organizationId)
  for (let n = 0; n < times; n++) await countAttempt(fixture.db, 'code', id)
}

test('who knows the password has 30 codes a day; a recovery code or a known browser still signs the owner in', async () => {
  const { email, secret, recovery, visitor, organizationId } = await withFactor('203.0.113.61')
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
  const { email, secret, visitor, organizationId } = await withFactor('203.0.113.61')
  await visitor.post('/sign-out', {}, { from: '/keys' })
  await countWrong(organizationId, limits.code.attempts - 1)
  const right = await enterCode(email, codeOf(secret), stranger())
  for (const wrong of Array(3).fill('000000'))
    expect((await enterCode(email, wrong, visitor)).statusCode).toBe(401)
  const again = await enterCode(email, codeOf(secret, 1), stranger())
  expect([right.headers.location, again.headers.location]).toEqual(['/keys', '/keys'])
})

test('a session cannot guess more codes than who knows the password', async () => {
  const { visitor, organizationId } = await withFactor('203.0.113.61')
  await countWrong(organizationId, limits.code.attempts)
  visitor.cookies.delete('tally_device')
  const form = { password: '000000', next: '/' }
  expect((await visitor.post('/confirm', form, { from: '/confirm' })).statusCode).toBe(429)
})

test('a code without the password before it, or five minutes later, is refused', async () => {
  const { email, secret } = await withFactor()
  const stranger = newVisitor(fixture.app)
  const send = () =>
    stranger.post('/sign-in/code', { code: codeOf(secret), next: '/' }, { from: '/sign-in/code' })
  expect((await send()).statusCode).toBe(400)
  await stranger.signIn(email)
  await sql`update one_time_tokens set ends_at = ends_at - interval '5 minutes'`.execute(fixture.db)
  expect((await send()).statusCode).toBe(400)
})

test('the second factor is turned off with a code only, and a code confirms a sign-in', async () => {
  const { email, secret, visitor } = await withFactor()
  const off = '/account/second-factor/remove'
  const from = '/account/second-factor'
  expect((await visitor.post(off, { code: password }, { from })).statusCode).toBe(400)
  await sql`update admin_sessions set confirmed_at = now() - interval '30 minutes'`.execute(fixture.db)
  const confirm = '/confirm?next=%2Faccount%2Fsecond-factor'
  expect((await visitor.get(from)).headers.location).toBe(confirm)
  const late = await visitor.post(off, { code: codeOf(secret) }, { from: '/account' })
  expect(late.headers.location).toBe(confirm)
  const confirmed = await visitor.post(
    '/confirm',
    { password: codeOf(secret), next: from },
    { from: '/confirm' },
  )
  expect(confirmed.headers.location).toBe(from)
  expect((await visitor.post(off, { code: codeOf(secret, 1) }, { from })).statusCode).toBe(303)
  expect((await newVisitor(fixture.app).signIn(email)).headers.location).toBe('/')
})

test('if a second factor is required, only the pages that set it up open without one', async () => {
  const required = await openFixture({ requiresSecondFactor: true })
  const { email } = await newOffice(required)
  const visitor = newVisitor(required.app)
  await visitor.signIn(email)
  const page = '/account/second-factor'
  const places = ['/keys', '/account', '/audit.csv', '/live'].map(
    async path => (await visitor.get(path)).headers.location,
  )
  const locations = await Promise.all(places)
  const form = { name: 'till', scope: 'events:read', eventId: '', expires: 'never' }
  const made = await visitor.post('/keys', form, { from: page })
  const secret = secretIn((await visitor.get(page)).body)
  await visitor.post(page, { code: codeOf(secret) }, { from: page })
  const after = (await visitor.get('/keys')).statusCode
  await required.close()
  expect(new Set(locations)).toEqual(new Set([page]))
  expect([made.statusCode, made.headers.location, after]).toEqual([303, page, 200])
})

test('if a second factor is required, a password alone sets none up: a fresh account or a reset link does', async () => {
  const required = await openFixture({ requiresSecondFactor: true })
  const { email } = await newOffice(required)
  const page = '/account/second-factor'
  const visitor = newVisitor(required.app)
  await visitor.signIn(email)
  const statuses = [(await visitor.get(page)).statusCode]
  await sql`update administrators set enrol_until = enrol_until - interval '24 hours'`.execute(required.db)
  statuses.push((await visitor.get(page)).statusCode)
  const { token } = await required.db.transaction().execute(tx => beginReset(tx, email))
  statuses.push((await visitor.get(page)).statusCode)
  const next = 'un altro gelato alla fragola'
  await visitor.post(`/reset/${token}`, { password: next }, { from: `/reset/${token}` })
  await visitor.signIn(email, next)
  statuses.push((await visitor.get(page)).statusCode)
  await sql`update administrators set enrol_until = enrol_until - interval '30 minutes'`.execute(required.db)
  const secret = secretIn((await visitor.get(page)).body)
  statuses.push((await visitor.post(page, { code: '000000' }, { from: '/confirm' })).statusCode)
  await required.close()
  expect([statuses, secret]).toEqual([[200, 403, 403, 200, 403], ''])
})

test('a new password ends the setting up of a second factor: who saw its secret before cannot use it', async () => {
  const { email } = await newOffice(fixture)
  const page = '/account/second-factor'
  const visitor = newVisitor(fixture.app)
  await visitor.signIn(email)
  const seen = secretIn((await visitor.get(page)).body)
  const { token } = await fixture.db.transaction().execute(tx => beginReset(tx, email))
  const next = 'un altro gelato alla fragola'
  await visitor.post(`/reset/${token}`, { password: next }, { from: `/reset/${token}` })
  await visitor.signIn(email, next)
  const shown = secretIn((await visitor.get(page)).body)
  expect(shown).toHaveLength(seen.length)
  expect(shown).not.toBe(seen)
})

test('a secret is encrypted in Postgres for its administrator, while it is set up and afterwards', async () => {
  const { email, organizationId } = await newOffice(fixture)
  const visitor = newVisitor(fixture.app)
  await visitor.signIn(email)
  const secret = secretIn((await visitor.get('/account/second-factor')).body)
  expect(await storedSecret(organizationId)).toMatchObject({
    secret: null,
    candidate: expect.stringMatching(/^1\./),
  })
  const form = { code: codeOf(secret, -1) }
  await visitor.post('/account/second-factor', form, { from: '/account/second-factor' })
  const { id, secret: stored } = await storedSecret(organizationId)
  expect(JSON.stringify(stored)).not.toContain(secret)
  expect([fixture.deps.sealer?.open(stored ?? '', id), fixture.deps.sealer?.open(stored ?? '', 'x')]).toEqual(
    [secret, undefined],
  )
})

test('at the start, secrets of an earlier key are encrypted with the first key', async () => {
  const { organizationId, secret } = await withFactor()
  const rotated = openSealer(['6'.repeat(64), '5'.repeat(64)])
  expect(await sealSecrets(fixture.db, rotated)).toBe(0)
  const later = { db: fixture.db, sealer: openSealer(['6'.repeat(64)]) }
  const { id } = await storedSecret(organizationId)
  expect(await useCode(later, id, codeOf(secret))).toBe('app')
  expect(await sealSecrets(fixture.db, undefined)).toBeGreaterThanOrEqual(1)
  await sealSecrets(fixture.db, openSealer(['5'.repeat(64), '6'.repeat(64)]))
})

test('without its key a second factor is still asked for, and only recovery codes pass', async () => {
  const { email, secret, recovery } = await withFactor()
  const keyless = await openFixture({ sealer: undefined, db: fixture.db })
  const visitor = newVisitor(keyless.app, '203.0.113.40')
  await visitor.signIn(email)
  const enterCode = (code: string) =>
    visitor.post('/sign-in/code', { code, next: '/' }, { from: '/sign-in/code' })
  const app = await enterCode(codeOf(secret))
  const { statusCode } = await enterCode(recovery[0] ?? '')
  const other = newVisitor(keyless.app, '203.0.113.41')
  await other.signIn((await newOffice(fixture)).email)
  const setUp = await other.get('/account/second-factor')
  await keyless.close()
  expect([app.statusCode, statusCode, setUp.statusCode]).toEqual([503, 303, 409])
  expect(setUp.body).toContain('set ADMIN_SECRET_KEY')
})

test('a reset link removes the second factor when it is used, not before', async () => {
  const { email } = await withFactor()
  const { token } = await fixture.db
    .transaction()
    .execute(tx => beginReset(tx, email, { removesSecondFactor: true }))
  const told = (await newVisitor(fixture.app).get(`/reset/${token}`)).body
  expect(told).toContain('Its second factor is turned off.')
  const attacker = await newVisitor(fixture.app, '203.0.113.50').signIn(email)
  expect(attacker.headers.location).toMatch(/^\/sign-in\/code/)
  const visitor = newVisitor(fixture.app)
  const next = 'un altro gelato alla fragola'
  await visitor.post(`/reset/${token}`, { password: next }, { from: `/reset/${token}` })
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
