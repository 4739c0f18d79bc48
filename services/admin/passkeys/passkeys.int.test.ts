import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import androidAttestation from '../test/androidAttestation.json' with { type: 'json' }
import { codeOf, recoveryIn, withApp } from '../test/apps.ts'
import {
  csrfOf,
  newOffice,
  newVisitor,
  openFixture,
  password,
  resetPath,
  signedIn,
  useFixture,
} from '../test/fixture.ts'
import { newAuthenticator, optionsOf } from '../test/stubAuthenticator.ts'
import { judgeNew } from './judging.ts'
import { mostPasskeys } from './store.ts'

const fixture = useFixture()

const page = '/account/passkeys'
type Visitor = ReturnType<typeof newVisitor>
const next = 'un altro gelato alla fragola'

/** Adds a passkey on the account page. */
async function add(visitor: Visitor, authenticator = newAuthenticator(), name = 'Key of Anna') {
  const { body } = await visitor.get(page)
  const fields = { name, passkey: authenticator.create(optionsOf(body)) }
  return visitor.post(page, fields, { from: '/confirm' })
}

/** An administrator who is signed in and has a passkey as the only second factor. */
async function withPasskey(of = fixture) {
  const { email, organizationId, visitor } = await signedIn(of)
  const authenticator = newAuthenticator()
  const made = await add(visitor, authenticator)
  const recovery = recoveryIn(made.body)
  return { email, organizationId, visitor, authenticator, recovery }
}

/** Gives the password; returns the browser, what it is asked for, and how it answers. */
async function afterPassword(email: string, visitor = newVisitor(fixture.app)) {
  const first = await visitor.signIn(email)
  expect(first.headers.location).toBe('/sign-in/code?next=%2F')
  const { body } = await visitor.get('/sign-in/code?next=%2F')
  return {
    visitor,
    body,
    options: optionsOf(body),
    send: (passkey: string) =>
      visitor.postBare('/sign-in/code', { _csrf: csrfOf(body), passkey, next: '/keys' }),
  }
}

/** Removes all passkeys; the page asks before the last one, which is the only second factor. */
const removeAll = async (visitor: Visitor) => {
  const { body } = await visitor.get(page)
  const paths = [...body.matchAll(/action="(\/account\/passkeys\/\d+\/remove)"/g)].map(
    ([, path = '']) => path,
  )
  const remove = (path: string, fields = {}) => visitor.post(path, fields, { from: '/account' })
  for (const path of paths.slice(0, -1)) expect((await remove(path)).headers.location).toBe(page)
  const last = paths.at(-1) ?? ''
  expect((await remove(last)).body).toContain('A sign-in will ask for the password only.')
  expect((await visitor.get('/account')).body).toContain('On: a sign-in')
  expect((await remove(last, { sure: 'yes' })).headers.location).toBe(page)
}

test('a passkey is asked for after the password, and the first one brings recovery codes', async () => {
  const { email, authenticator, recovery } = await withPasskey()
  expect(recovery).toHaveLength(10)
  const { visitor, options, body, send } = await afterPassword(email)
  expect(body).toContain('Recovery code</label>')
  expect(JSON.parse(options).allowCredentials).toEqual([
    { id: expect.any(String), transports: ['usb'], type: 'public-key' },
  ])
  const reply = await send(authenticator.sign(options))
  expect([reply.statusCode, reply.headers.location]).toEqual([303, '/keys'])
  const audit = (await visitor.get('/audit')).body
  expect(audit).toContain('Signed in with a passkey')
  expect(audit).toContain('Added a passkey <code>Key of Anna</code>')
  expect((await visitor.get(page)).body).toMatch(/<bdi>Key of Anna(?!.*>never<)/s)
})

test('without the passkey, a recovery code signs in', async () => {
  const { email, recovery } = await withPasskey()
  const { visitor } = await afterPassword(email)
  const form = { code: recovery[0] ?? '', next: '/keys' }
  expect((await visitor.post('/sign-in/code', form, { from: '/sign-in/code' })).headers.location).toBe(
    '/keys',
  )
})

test('a signature signs in once, also of two that are sent at once', async () => {
  const { email, authenticator } = await withPasskey()
  const one = await afterPassword(email)
  const answer = authenticator.sign(one.options)
  const both = await Promise.all([one.send(answer), one.send(answer)])
  expect(both.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 400])
  const other = await afterPassword(email)
  expect((await other.send(answer)).statusCode).toBe(401)
})

test.for<[string, { origin?: string; party?: string }]>([
  ['of a page elsewhere', { origin: 'http://admin.example' }],
  ['for another host', { party: 'admin.example' }],
])('a signature %s is refused, and noted', async ([, moment]) => {
  const { email, authenticator, visitor } = await withPasskey()
  const { options, send } = await afterPassword(email)
  const refused = await send(authenticator.sign(options, moment))
  expect([refused.statusCode, refused.body.includes('The passkey was not accepted')]).toEqual([401, true])
  expect((await visitor.get('/audit')).body).toContain(
    'Wrong code of the second factor<span class="faint block" dir="auto">a passkey',
  )
})

test('a passkey of another account, an altered signature and what is none are refused', async () => {
  const { email } = await withPasskey()
  const other = await withPasskey()
  const { options, send } = await afterPassword(email)
  const answer = JSON.parse(other.authenticator.sign(options))
  const statuses = [(await send(JSON.stringify(answer))).statusCode]
  const { authenticator } = await withPasskey()
  const own = await afterPassword(other.email)
  const altered = { ...JSON.parse(authenticator.sign(own.options)), id: answer.id, rawId: answer.id }
  for (const sent of [JSON.stringify(altered), '{}', 'x', '[null]'])
    statuses.push((await own.send(sent)).statusCode)
  expect(statuses).toEqual([401, 401, 401, 401, 401])
})

test('nobody makes the area ask an address: certificates of a new passkey are not read', async () => {
  // Its key is real; the certificate, of a root of its own, names an address in place of a list of revoked ones.
  const asked = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('asked'))
  const { challenge, response } = androidAttestation
  const request = { publicUrl: new URL('http://admin.test'), ip: '192.0.2.1' } as never
  const judged = {
    tx: fixture.db as never,
    request,
    logger: fixture.deps.logger,
    administratorId: 'x',
    challenge,
  }
  const made = await judgeNew(judged, JSON.stringify(response))
  expect([made, asked.mock.calls]).toEqual([undefined, []])
  asked.mockRestore()
})

test('while Postgres does not answer, no passkey is refused', async () => {
  const { visitor } = await withPasskey()
  const answer = newAuthenticator().create(optionsOf((await visitor.get(page)).body))
  const down = Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
  const fail = () => {
    throw down
  }
  const tx = { getExecutor: () => ({ transformQuery: fail }) } as never
  const request = { publicUrl: new URL('http://admin.test'), ip: '192.0.2.1' } as never
  const judged = { tx, request, logger: fixture.deps.logger, administratorId: 'x' }
  await expect(judgeNew(judged, answer)).rejects.toThrow('down')
  expect(await judgeNew(judged, '{}')).toBeUndefined()
})

test('a passkey whose count does not rise is a copy', async () => {
  const { email, authenticator } = await withPasskey()
  const statuses: number[] = []
  for (const counter of [7, 7, 8]) {
    const { options, send } = await afterPassword(email)
    statuses.push((await send(authenticator.sign(options, { counter }))).statusCode)
  }
  expect(statuses).toEqual([303, 401, 303])
})

test('who has a second factor proves it before a passkey is added or removed: the password is not enough', async () => {
  const { visitor, authenticator, recovery } = await withPasskey()
  await fixture.run(sql`update admin_sessions set factor_at = now() - interval '30 minutes'`)
  const confirm = '/confirm?factor=yes&next=%2Faccount%2Fpasskeys'
  await visitor.post('/confirm', { password, next: page }, { from: '/account' })
  const replies = [await visitor.get(page), await visitor.get('/account/second-factor')]
  for (const path of [page, `${page}/1/remove`, '/account/second-factor'])
    replies.push(await visitor.post(path, {}, { from: '/account' }))
  expect(replies.map(({ headers }) => String(headers.location).replace('%3Fagain%3Dyes', ''))).toEqual(
    [page, '/account/second-factor', page, page, '/account/second-factor'].map(
      next => `/confirm?factor=yes&next=${encodeURIComponent(next)}`,
    ),
  )
  const form = { password, factor: 'yes', next: page }
  expect((await visitor.post('/confirm', form, { from: '/account' })).statusCode).toBe(401)
  const { password: _, ...asked } = form
  const { body } = await visitor.get(confirm)
  expect(body).toContain('Use a passkey, or enter a recovery code to continue.')
  const passkey = authenticator.sign(optionsOf(body))
  const proven = await visitor.post('/confirm', { ...asked, passkey }, { from: '/account' })
  expect([proven.headers.location, (await visitor.get(page)).statusCode]).toEqual([page, 200])
  expect((await visitor.post('/confirm', { ...asked, passkey }, { from: '/account' })).statusCode).toBe(401)
  await fixture.run(sql`update admin_sessions set factor_at = null`)
  const code = { ...form, password: recovery[0] ?? '' }
  expect((await visitor.post('/confirm', code, { from: '/account' })).headers.location).toBe(page)
  await visitor.post('/account/password', { current: password, password: next }, { from: '/account' })
  expect((await visitor.get(page)).headers.location).toBe(confirm)
})

test('a challenge of another administrator, and one five minutes old, is refused', async () => {
  const { visitor } = await withPasskey()
  const other = await withPasskey()
  const authenticator = newAuthenticator()
  const foreign = authenticator.create(optionsOf((await other.visitor.get(page)).body))
  const post = (passkey: string) => visitor.post(page, { name: 'x', passkey }, { from: '/account' })
  const late = authenticator.create(optionsOf((await visitor.get(page)).body))
  const before = await post(foreign)
  await fixture.run(sql`update one_time_tokens set ends_at = ends_at - interval '5 minutes'`)
  expect([before.statusCode, (await post(late)).statusCode]).toEqual([400, 400])
  expect((await add(visitor, authenticator)).headers.location).toBe(page)
})

/** Everything that Postgres has of an account. */
async function storedOf(email: string) {
  const tables = ['admin_sessions', 'known_devices', 'one_time_tokens', 'passkeys', 'recovery_codes']
  const rows = ['administrators', ...tables].map(async table => {
    const stored = sql`select one::text from ${sql.table(table)} as one where administrator_id = (
  select administrator_id from administrators where email = ${email}) order by 1`
    return [table, (await fixture.run(stored)).rows]
  })
  return Promise.all(rows)
}

test('nothing that an administrator does changes another one’s account', async () => {
  const other = await withApp(fixture, '198.51.100.1')
  await add(other.visitor)
  await resetPath(fixture, other.email)
  const [path = ''] = /\/account\/passkeys\/\d+\/remove/.exec((await other.visitor.get(page)).body) ?? []
  const before = await storedOf(other.email)
  for (const [, rows] of before) expect(rows).not.toEqual([])

  const { email, visitor, secret } = await withApp(fixture, '198.51.100.2')
  const authenticator = newAuthenticator()
  await add(visitor, authenticator)
  expect((await visitor.post(path, { sure: 'yes' }, { from: '/account' })).statusCode).toBe(404)
  const { options, send } = await afterPassword(email, newVisitor(fixture.app, '198.51.100.3'))
  expect((await send(authenticator.sign(options))).statusCode).toBe(303)
  const passkey = authenticator.sign(optionsOf((await visitor.get('/confirm')).body))
  const proof = { passkey, next: page }
  expect((await visitor.post('/confirm', proof, { from: '/account' })).headers.location).toBe(page)
  const app = '/account/second-factor'
  await visitor.post(`${app}/remove`, { code: codeOf(secret) }, { from: app })
  await removeAll(visitor)
  await visitor.post('/sign-out', {}, { from: '/account' })
  await visitor.signIn(email)
  await visitor.post('/account/sign-out-everywhere', {}, { from: '/account' })
  const link = await resetPath(fixture, email, { removesSecondFactor: true })
  expect((await visitor.post(link, { password: next }, { from: link })).statusCode).toBe(303)
  expect(await storedOf(other.email)).toEqual(before)
})

test('without its last passkey the second factor is off, and its recovery codes have ended', async () => {
  const { email, visitor } = await withPasskey()
  await add(visitor, newAuthenticator(), 'second')
  await removeAll(visitor)
  const audit = (await visitor.get('/audit')).body
  for (const text of ['Removed a passkey <code>second', 'Turned the second factor off'])
    expect(audit).toContain(text)
  expect((await newVisitor(fixture.app).signIn(email)).headers.location).toBe('/')
  const { rows } = await fixture.run(sql`
select from recovery_codes join administrators using (administrator_id) where email = ${email}`)
  expect(rows).toEqual([])
})

test('next to an app a passkey brings no new recovery codes, and stays when the app is turned off', async () => {
  const { email, visitor, secret } = await withApp(fixture)
  const app = '/account/second-factor'
  const authenticator = newAuthenticator()
  expect((await add(visitor, authenticator)).headers.location).toBe(page)
  expect((await visitor.get('/account')).body).toContain('a code of your app or a passkey.')
  const off = await visitor.post(`${app}/remove`, { code: codeOf(secret) }, { from: app })
  expect(off.headers.location).toBe('/account')
  expect((await visitor.get('/account')).body).toContain('asks for a passkey.')
  const { options, body, send } = await afterPassword(email)
  expect(body).not.toContain('Code of your app')
  expect((await send(authenticator.sign(options))).headers.location).toBe('/keys')
  const { rows } = await fixture.run(sql`
select from recovery_codes join administrators using (administrator_id) where email = ${email}`)
  expect(rows).toHaveLength(10)
})

test('a reset link keeps passkeys, unless it removes the second factor', async () => {
  const { email } = await withPasskey()
  const set = async (removesSecondFactor: boolean, next: string) => {
    const path = await resetPath(fixture, email, { removesSecondFactor })
    const visitor = newVisitor(fixture.app)
    await visitor.post(path, { password: next }, { from: path })
    return (await visitor.signIn(email, next)).headers.location
  }
  const kept = await set(false, next)
  expect([kept, await set(true, 'e poi un gelato al limone')]).toEqual(['/sign-in/code?next=%2F', '/'])
})

test('a required second factor may be a passkey, which a password alone does not set up', async () => {
  const required = await openFixture({ requiresSecondFactor: true })
  const { visitor } = await signedIn(required)
  await sql`update administrators set enrol_until = null`.execute(required.db)
  const statuses = [
    (await visitor.get(page)).statusCode,
    (await visitor.post(page, {}, { from: '/confirm' })).statusCode,
  ]
  await sql`update administrators set enrol_until = now() + interval '1 minute'`.execute(required.db)
  await add(visitor)
  await sql`update administrators set enrol_until = null`.execute(required.db)
  statuses.push((await visitor.get('/keys')).statusCode, (await visitor.get(page)).statusCode)
  await required.close()
  expect(statuses).toEqual([403, 403, 200, 200])
})

test('an account has at most so many passkeys, and so many challenges', async () => {
  const { email, visitor } = await withPasskey()
  const passkey = newAuthenticator().create(optionsOf((await visitor.get(page)).body))
  await fixture.run(sql`
insert into passkeys (administrator_id, credential_id, public_key, counter, transports, name)
select administrator_id, administrator_id || '-' || n, '', 0, '{}', 'x' from administrators, generate_series(2, ${mostPasskeys}) as n
where email = ${email}`)
  const { body } = await visitor.get(page)
  expect(body).toContain('Remove one first.')
  expect(optionsOf(body)).toBe('')
  expect((await visitor.post(page, { name: 'x', passkey }, { from: '/confirm' })).statusCode).toBe(409)
  for (let n = 0; n < 30; n++) await visitor.get('/confirm')
  const { rows } = await fixture.run(sql`
select from one_time_tokens join administrators using (administrator_id)
where email = ${email} and purpose = 'passkey'`)
  expect(rows).toHaveLength(20)
})

test('at the number of an address there are no passkeys', async () => {
  const { email } = await newOffice(fixture)
  const visitor = newVisitor(fixture.app, '192.0.2.1', { host: '127.0.0.1:8081' })
  await visitor.signIn(email)
  const { body } = await visitor.get(page)
  expect(body).toContain('open this area by its name')
  expect(optionsOf(body)).toBe('')
})
