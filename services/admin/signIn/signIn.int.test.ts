import { beginReset, hashPassword } from '@tally/access'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  csrfOf,
  type Fixture,
  newOffice,
  newVisitor,
  openFixture,
  password,
  realCost,
} from '../test/fixture.ts'
import { limits, takeAttempt } from './attempts.ts'
import { queuePasswordHash } from './passwordQueue.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const visitor = (address?: string) => newVisitor(fixture.app, address)

test('a page without a session redirects to the sign-in, which leads back to it', async () => {
  const { email } = await newOffice(fixture)
  const someone = visitor()
  const refused = await someone.get('/keys')
  expect([refused.statusCode, refused.headers.location]).toEqual([303, '/sign-in?next=%2Fkeys'])
  const fields = { email: email.toUpperCase(), password, next: '/keys' }
  const signedIn = await someone.post('/sign-in', fields, { from: '/sign-in?next=/keys' })
  expect([signedIn.statusCode, signedIn.headers.location]).toEqual([303, '/keys'])
  expect((await someone.get('/keys')).statusCode).toBe(200)
})

test('a password of 200 characters, from before new ones were limited to 128, still signs in', async () => {
  const { email } = await newOffice(fixture)
  const long = 'correct horse '.repeat(15).slice(0, 200)
  const passwordHash = await hashPassword(long, fixture.deps.passwordCost)
  const { db } = fixture
  await db
    .updateTable('administrators')
    .set({ password_hash: passwordHash })
    .where('email', '=', email)
    .execute()
  expect((await visitor().signIn(email, long.slice(0, 129))).statusCode).toBe(401)
  expect((await visitor().signIn(email, long)).statusCode).toBe(303)
})

test('a session’s cookie is HttpOnly and SameSite, and Secure over TLS', async () => {
  const { email } = await newOffice(fixture)
  const plain = await visitor().signIn(email)
  const cookie = plain.cookies.find(({ name }) => name === 'tally_session')
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' })
  expect(cookie).not.toHaveProperty('secure')

  const behindTls = await openFixture({ trustedProxies: ['192.0.2.0/24'] })
  const office = await newOffice(behindTls)
  const headers = { 'x-forwarded-proto': 'https' }
  const someone = newVisitor(behindTls.app)
  const page = await someone.get('/sign-in', headers)
  const token = csrfOf(page.body)
  const reply = await someone.postBare('/sign-in', { _csrf: token, email: office.email, password }, headers)
  await behindTls.close()
  const secure = reply.cookies.find(({ name }) => name === '__Host-tally_session')
  expect(secure).toMatchObject({ secure: true, httpOnly: true, sameSite: 'Lax', path: '/' })
})

test('a wrong e-mail and a wrong password get the same answer, byte for byte apart from what was typed', async () => {
  const { email } = await newOffice(fixture)
  const answerTo = async (given: string) => {
    const { statusCode, body } = await visitor().signIn(given, 'a wrong long password')
    return { statusCode, page: body.replace(/value="[^"]*"/g, 'value=""') }
  }
  const known = await answerTo(email)
  expect(known.statusCode).toBe(401)
  expect(known.page).toContain('Incorrect e-mail or password.')
  expect(await answerTo('nobody@example.org')).toEqual(known)
  expect(await answerTo('no address')).toEqual(known)
})

test('a wrong e-mail takes as long as a wrong password', async () => {
  const costly = await openFixture(realCost)
  const { email } = await newOffice(costly)
  // CPU time of this process, its thread pool included: the hash is nearly all of it, and other processes add nothing.
  const cpuTimeOf = async (given: string) => {
    const someone = newVisitor(costly.app, '198.51.100.7')
    const before = process.cpuUsage()
    await someone.signIn(given, 'a wrong long password')
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  await cpuTimeOf(email)
  const known: number[] = []
  const unknown: number[] = []
  for (let round = 0; round < 3; round++) {
    known.push(await cpuTimeOf(email))
    unknown.push(await cpuTimeOf('nobody-else@example.org'))
  }
  await costly.close()
  // Without a hash to compare, an unknown e-mail took a tenth of the time.
  expect(median(unknown)).toBeGreaterThan(median(known) * 0.5)
})

test('attempts of a network for an account are limited, even if it does not exist; refused ones do not extend the window', async () => {
  const { email } = await newOffice(fixture)
  for (const given of [email, 'not-there@example.org']) {
    const { attempts } = limits.pair
    const replies = await inTurn(attempts + 2, () => visitor('203.0.113.1').signIn(given, 'x'))
    expect(replies.map(({ statusCode }) => statusCode)).toEqual([...Array(attempts).fill(401), 429, 429])
    const { headers, body } = replies.at(-1) ?? { headers: {}, body: '' }
    expect(Number(headers['retry-after'])).toBeGreaterThan(800)
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(900)
    expect(body).toContain('Too many attempts')
  }
  expect((await visitor('203.0.113.1').signIn(email)).statusCode).toBe(429)
  expect((await visitor('203.0.113.2').signIn(email)).statusCode).toBe(303)
})

/** Uses up a limit by attempts of others, without their passwords. */
const useUp = (limit: keyof typeof limits, attempt: (index: number) => { email: string; address: string }) =>
  Promise.all(
    Array.from({ length: limits[limit].attempts }, (_, index) =>
      takeAttempt(fixture.db, { device: undefined, ...attempt(index) }),
    ),
  )

test('attempts are limited by network across accounts, then by site; other networks are not affected', async () => {
  const { email } = await newOffice(fixture)
  const taken = await useUp('network', index => ({
    email: `${index}@example.org`,
    address: '2001:db8:1:2::1',
  }))
  expect(new Set(taken)).toEqual(new Set([undefined]))
  expect((await visitor('2001:db8:1:2:ffff::9').signIn(email)).statusCode).toBe(429)
  expect((await visitor('2001:db8:1:3::1').signIn(email)).statusCode).toBe(303)
  await useUp('site', index => ({
    email: `${index}@example.org`,
    address: `2001:db8:1:${(index + 16).toString(16)}::1`,
  }))
  expect((await visitor('2001:db8:1:4::1').signIn(email)).statusCode).toBe(429)
  expect((await visitor('2001:db8:2:4::1').signIn(email)).statusCode).toBe(303)
})

test('a network over its limit reaches no account and leaves no further row', async () => {
  const { email } = await newOffice(fixture)
  const { db } = fixture
  const address = '203.0.113.50'
  await useUp('network', index => ({ email: `${index}@example.com`, address }))
  const rows = async () => (await db.selectFrom('sign_in_attempts').selectAll().execute()).length
  const before = await rows()
  const refused = await inTurn(limits.account.attempts + 1, index =>
    takeAttempt(db, {
      email: index % 2 === 0 ? email : `new-${index}@example.com`,
      address,
      device: undefined,
    }),
  )
  expect(refused).not.toContain(undefined)
  expect(await rows()).toBe(before)
  expect((await visitor('203.0.113.51').signIn(email)).statusCode).toBe(303)
})

test('nobody can lock out a browser in which the account has signed in before', async () => {
  const { email } = await newOffice(fixture)
  const own = visitor('203.0.113.60')
  await own.signIn(email)
  await own.post('/sign-out', {}, { from: '/keys' })
  // The account from everywhere, the account from its network, and the network.
  await useUp('account', index => ({ email, address: `198.18.0.${index}` }))
  await useUp('pair', () => ({ email, address: '203.0.113.60' }))
  await useUp('network', index => ({ email: `${index}@example.net`, address: '203.0.113.60' }))
  expect((await visitor('198.18.1.1').signIn(email)).statusCode).toBe(429)
  expect((await visitor('203.0.113.60').signIn(email)).statusCode).toBe(429)
  expect((await own.signIn(email)).statusCode).toBe(303)
})

test('while strangers fill the queue of password checks, further ones get a 503, and a known browser signs in', async () => {
  const costly = await openFixture(realCost)
  const { email } = await newOffice(costly)
  const own = newVisitor(costly.app, '203.0.113.65')
  await own.signIn(email)
  await own.post('/sign-out', {}, { from: '/keys' })
  const strangers = Array.from({ length: 12 }, (_, n) =>
    newVisitor(costly.app, `203.0.113.${90 + (n % 3)}`).signIn('nobody@example.org', 'x'),
  )
  expect((await own.signIn(email)).statusCode).toBe(303)
  const replies = await Promise.all(strangers)
  await costly.close()
  const shed = replies.filter(({ statusCode }) => statusCode === 503)
  expect(replies.length - shed.length).toBe(replies.filter(({ statusCode }) => statusCode === 401).length)
  expect(shed.length).toBeGreaterThan(0)
  expect(shed[0]?.headers['retry-after']).toBe('5')
  expect(shed[0]?.body).toContain('Your password was not checked.')
})

test('attempts that find the queue of password checks full do not count', async () => {
  const { email } = await newOffice(fixture)
  const { token } = await fixture.db.transaction().execute(tx => beginReset(tx, email))
  const own = visitor('203.0.113.67')
  await own.signIn(email)
  const next = 'un altro gelato alla fragola'
  const tries = [
    () => visitor('203.0.113.68').signIn(email),
    () => own.post('/confirm', { password, next: '/' }, { from: '/confirm' }),
    () => own.post('/account/password', { current: 'x', password: next }, { from: '/account' }),
    () => visitor().post(`/reset/${token}`, { password: next }, { from: `/reset/${token}` }),
  ]
  const tryAll = () => inTurn(tries.length, async index => (await tries[index]?.())?.statusCode)
  const gate = Promise.withResolvers<void>()
  const fill = (isKnown: boolean, count: number) =>
    Array.from({ length: count }, (_, n) =>
      queuePasswordHash({ isKnown, from: `other ${n}` }, () => gate.promise),
    )
  const others = [...fill(true, 12), ...fill(false, 10)]
  const shed = await inTurn(limits.pair.attempts + 1, tryAll)
  gate.resolve()
  await Promise.all(others)
  expect(new Set(shed.flat())).toEqual(new Set([503]))
  expect(await tryAll()).toEqual([303, 303, 400, 303])
})

test('a known browser has a limit of its own, and is known for its own account only', async () => {
  const [anna, berta] = [await newOffice(fixture), await newOffice(fixture)]
  const own = visitor('203.0.113.70')
  await own.signIn(anna.email)
  await own.post('/sign-out', {}, { from: '/keys' })
  const statuses = await inTurn(
    limits.device.attempts + 1,
    async () => (await own.signIn(anna.email, 'x')).statusCode,
  )
  expect(statuses).toEqual([...Array(limits.device.attempts).fill(401), 429])
  await useUp('account', index => ({ email: berta.email, address: `198.18.2.${index}` }))
  expect((await own.signIn(berta.email)).statusCode).toBe(429)
})

test('the browsers remembered per administrator are bounded', async () => {
  const { email } = await newOffice(fixture)
  await inTurn(22, () => visitor('203.0.113.80').signIn(email))
  const { rows } = await sql`
select from known_devices join administrators using (administrator_id) where email = ${email}`.execute(
    fixture.db,
  )
  expect(rows).toHaveLength(20)
})

test('a sign-in resets the failed attempts of its account', async () => {
  const { email } = await newOffice(fixture)
  await inTurn(limits.pair.attempts - 1, () => visitor('198.51.100.20').signIn(email, 'x'))
  expect((await visitor('198.51.100.20').signIn(email)).statusCode).toBe(303)
  expect((await visitor('198.51.100.20').signIn(email, 'x')).statusCode).toBe(401)
})

test('a sign-out ends the session, so that a copy of the cookie is useless', async () => {
  const { email } = await newOffice(fixture)
  const someone = visitor()
  await someone.signIn(email)
  const copy = new Map(someone.cookies)
  const reply = await someone.post('/sign-out', {}, { from: '/keys' })
  expect([reply.statusCode, reply.headers.location]).toEqual([303, '/sign-in'])
  const thief = visitor()
  for (const [name, value] of copy) thief.cookies.set(name, value)
  expect((await thief.get('/keys')).statusCode).toBe(303)
})

test('a sign-in begins a new session; a planted one does not become valid', async () => {
  const { email } = await newOffice(fixture)
  const someone = visitor()
  someone.cookies.set('tally_session', 'planted')
  await someone.signIn(email)
  expect(someone.cookies.get('tally_session')).not.toBe('planted')
  const thief = visitor()
  thief.cookies.set('tally_session', 'planted')
  expect((await thief.get('/keys')).statusCode).toBe(303)
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
  expect(given.map(({ name }) => name)).toEqual([
    '__Host-tally_csrf',
    '__Host-tally_session',
    '__Host-tally_device',
  ])
  for (const cookie of given)
    expect(cookie).toMatchObject({ secure: true, httpOnly: true, sameSite: 'Lax', path: '/' })
})

const keyForm = { name: 'till', scope: 'events:read', eventId: '', expires: 'never' }

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
  expect((await someone.postBare('/keys', { ...keyForm, ...form })).statusCode).toBe(403)
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

test.for(['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)', '/a b'])(
  'a sign-in never leads to %s',
  async next => {
    const { email } = await newOffice(fixture)
    const reply = await visitor().post('/sign-in', { email, password, next })
    expect(reply.headers.location).toBe('/')
  },
)

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

test('values that Postgres cannot store are answered like any other wrong value, never with a 5xx', async () => {
  const { email } = await newOffice(fixture)
  const odd = ['\0', `${email}\0`, '\ud800', 'a'.repeat(5_000), '%00', "' or 1=1 --", '💥@example.org']
  for (const given of odd) {
    const reply = await visitor('198.51.100.30').post('/sign-in', {
      email: given,
      password: given,
      next: given,
    })
    expect([given, reply.statusCode]).toEqual([given, 401])
  }
  const someone = visitor()
  await someone.signIn(email)
  for (const name of ['\0', 'x\0y', 'n'.repeat(201)]) {
    const fields = { name, scope: 'events:read', eventId: '', expires: 'never' }
    expect((await someone.post('/keys', fields, { from: '/keys/new' })).statusCode).toBe(400)
  }
  for (const path of [
    '/keys?done=constructor',
    '/keys/%00',
    '/live?eventId=%00',
    '/audit?before=-1',
    '/operations',
    '/x',
  ])
    expect((await someone.get(path)).statusCode).toBeLessThan(500)
  expect((await someone.get('/keys?done=constructor')).body).not.toContain('native code')
})

test('a form that is too large is refused', async () => {
  const reply = await visitor().post('/sign-in', { email: 'a'.repeat(20_000) })
  expect(reply.statusCode).toBe(413)
})

test('while Postgres does not answer the page says so, without internal details', async () => {
  const { openPostgres } = await import('@tally/read-models')
  const url = 'postgres://nobody@127.0.0.1:1/nothing'
  const db = openPostgres(url, { name: 'test', max: 1, statementTimeoutMs: 500, onError: () => {} })
  const cut = await openFixture({ db })
  const reply = await newVisitor(cut.app).signIn('anna@example.org')
  await cut.close()
  await db.destroy()
  expect([reply.statusCode, reply.headers['retry-after']]).toEqual([503, '2'])
  expect(reply.body).toContain('A part of Tally does not answer')
  expect(reply.body).not.toMatch(/ECONN|127\.0\.0\.1|postgres/)
})

async function inTurn<T>(times: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let index = 0; index < times; index++) results.push(await work(index))
  return results
}

const median = (numbers: number[]) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN

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
  expect([...visitor.cookies.keys()].toSorted()).toEqual([
    '__Host-tally_device_8443',
    '__Host-tally_session_8443',
  ])
  await secure.close()
})
