import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { csrfOf, newOffice, newVisitor, password, resetPath, useFixture } from '../test/fixture.ts'

const fixture = useFixture()

const next = 'un altro gelato alla fragola'

async function signedIn(email: string) {
  const visitor = newVisitor(fixture.app)
  await visitor.signIn(email)
  return visitor
}
const isSignedIn = async (visitor: ReturnType<typeof newVisitor>) =>
  (await visitor.get('/keys')).statusCode === 200
async function actionsOf(email: string) {
  const actions = sql<{ action: string }>`select action from audit_entries where email = ${email}`
  return (await fixture.run(actions)).rows.map(({ action }) => action)
}

test('a changed password ends all other sessions and renews this one', async () => {
  const { email } = await newOffice(fixture)
  const [own, other] = [await signedIn(email), await signedIn(email)]
  const before = own.cookies.get('tally_session')
  const form = { current: password, password: next }
  const reply = await own.post('/account/password', form, { from: '/account' })
  expect([reply.statusCode, reply.headers.location]).toEqual([303, '/account?done=password'])
  expect(own.cookies.get('tally_session')).not.toBe(before)
  expect([await isSignedIn(own), await isSignedIn(other)]).toEqual([true, false])
  const statuses = [password, next].map(
    async given => (await newVisitor(fixture.app).signIn(email, given)).statusCode,
  )
  expect(await Promise.all(statuses)).toEqual([401, 303])
  expect(await actionsOf(email)).toContain('password-changed')
})

test('a password that cannot be noted in the audit trail does not change, and ends no session', async () => {
  const { email } = await newOffice(fixture)
  const [own, other] = [await signedIn(email), await signedIn(email)]
  const refuse = sql`alter table audit_entries add constraint refuses check (action <> 'password-changed') not valid`
  await refuse.execute(fixture.db)
  const form = { current: password, password: next }
  const { statusCode } = await own.post('/account/password', form, { from: '/account' })
  await fixture.run(sql`alter table audit_entries drop constraint refuses`)
  expect(statusCode).toBe(500)
  expect([await isSignedIn(own), await isSignedIn(other)]).toEqual([true, true])
  expect((await newVisitor(fixture.app).signIn(email, password)).statusCode).toBe(303)
})

test.for([
  { why: 'short', given: 'short', says: 'The password must have 12 to 128 characters, but has 5.' },
  { why: 'common', given: 'password1234', says: 'is too easy to guess' },
  { why: 'a keyboard row', given: 'qwertyuiop123', says: 'is too easy to guess' },
  { why: 'one’s e-mail address', given: '', says: 'is too easy to guess' },
])('a new password that is $why is refused', async ({ given, says }) => {
  const { email } = await newOffice(fixture)
  const own = await signedIn(email)
  const form = { current: password, password: given === '' ? email : given }
  const reply = await own.post('/account/password', form, { from: '/account' })
  expect(reply.statusCode).toBe(400)
  expect(reply.body).toContain(says)
})

test('the account page lists one’s own sessions only; sign out everywhere ends them', async () => {
  const { email } = await newOffice(fixture)
  const [own, other] = [await signedIn(email), await signedIn(email)]
  const stranger = await signedIn((await newOffice(fixture)).email)
  const { body } = await own.get('/account')
  expect([...body.matchAll(/data-label="Browser"/g)]).toHaveLength(2)
  expect([...body.matchAll(/this one/g)]).toHaveLength(1)
  const reply = await own.post('/account/sign-out-everywhere', {}, { from: '/account' })
  expect(reply.statusCode).toBe(303)
  expect((await own.get(String(reply.headers.location))).body).toContain('All your sessions have ended.')
  const left = await Promise.all([own, other, stranger].map(isSignedIn))
  expect(left).toEqual([false, false, true])
  expect(await actionsOf(email)).toContain('signed-out-everywhere')
})

test('an address has one form in sessions and in the audit trail, however it came', async () => {
  const { email } = await newOffice(fixture)
  for (const address of ['::ffff:198.51.100.7', '198.51.100.7', '2001:DB8::0:7', '2001:db8::7%eth0']) {
    const visitor = newVisitor(fixture.app, address)
    expect((await visitor.signIn(email, password)).statusCode).toBe(303)
  }
  const addressesIn = async (table: 'admin_sessions' | 'audit_entries') => {
    const { rows } = await fixture.run(sql<{ address: string }>`
select distinct address from ${sql.table(table)} where address ~* '(198.51.100.7|2001:db8)' order by 1`)
    return rows.map(({ address }) => address)
  }
  const plain = ['198.51.100.7', '2001:db8::7']
  expect([await addressesIn('admin_sessions'), await addressesIn('audit_entries')]).toEqual([plain, plain])
})

test('a session is ended one by one by its own administrator only', async () => {
  const { email } = await newOffice(fixture)
  const [own, other, third] = [await signedIn(email), await signedIn(email), await signedIn(email)]
  const stranger = await signedIn((await newOffice(fixture)).email)
  const [path = ''] = /\/account\/sessions\/\d+\/end/.exec((await own.get('/account')).body) ?? []
  expect((await stranger.post(path, {}, { from: '/account' })).statusCode).toBe(404)
  expect((await own.post(path, {}, { from: '/account' })).statusCode).toBe(303)
  const left = [await isSignedIn(own), await isSignedIn(other), await isSignedIn(third)]
  expect([left[0], left.filter(isIn => isIn).length]).toEqual([true, 2])
  expect((await own.post(path, {}, { from: '/account' })).statusCode).toBe(404)
  expect(await actionsOf(email)).toContain('session-ended')
})

test('a reset link sets a password once and ends all sessions', async () => {
  const { email } = await newOffice(fixture)
  const own = await signedIn(email)
  const path = await resetPath(fixture, email)
  const visitor = newVisitor(fixture.app)
  expect((await visitor.get(path)).body).toContain(email)
  const weak = await visitor.post(path, { password: 'password1234' }, { from: path })
  expect([weak.statusCode, weak.body.includes('too easy to guess')]).toEqual([400, true])
  expect(await isSignedIn(own)).toBe(true)
  const reply = await visitor.post(path, { password: next }, { from: path })
  expect([reply.statusCode, reply.headers.location]).toEqual([303, '/sign-in?done=reset'])
  expect(await isSignedIn(own)).toBe(false)
  expect((await visitor.get(path)).statusCode).toBe(404)
  expect((await visitor.signIn(email, next)).statusCode).toBe(303)
  expect(await actionsOf(email)).toContain('password-reset')
})

test('the link of an invitation welcomes, also after a weak password; a later one says what ends', async () => {
  const { email } = await newOffice(fixture)
  const first = await resetPath(fixture, email)
  const visitor = newVisitor(fixture.app)
  const welcome = 'Welcome to Tally. Choose a password.'
  expect((await visitor.get(first)).body).toContain(welcome)
  expect((await visitor.post(first, { password: 'short' }, { from: first })).body).toContain(welcome)
  await visitor.post(first, { password: next }, { from: first })
  const later = (await visitor.get(await resetPath(fixture, email))).body
  expect([later.includes(welcome), later.includes('All sessions of this account end')]).toEqual([false, true])
})

test('sessions have the names of their browsers, and what is used now says so', async () => {
  const { email } = await newOffice(fixture)
  const visitor = newVisitor(fixture.app)
  const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0'
  await visitor.post('/sign-in', { email, password }, { headers: { 'user-agent': agent } })
  const { body } = await visitor.get('/account')
  expect(body).toContain(
    `<span title="${agent}">Firefox on Linux</span> <span class="badge good">this one</span>`,
  )
  expect(body).toContain('<td data-label="Last used">active now</td>')
  await signedIn(email)
  await fixture.run(
    sql`update admin_sessions set last_seen_at = now() - interval '3 minutes' where browser <> ${agent}`,
  )
  expect((await visitor.get('/account')).body.match(/active now/g)).toHaveLength(1)
})

test('a reset link that is opened where someone else is signed in leads to the sign-in, not to their pages', async () => {
  const { email } = await newOffice(fixture)
  const other = await newOffice(fixture)
  const visitor = await signedIn(other.email)
  const before = newVisitor(fixture.app, undefined, { cookies: new Map(visitor.cookies) })
  const path = await resetPath(fixture, email)
  const { headers } = await visitor.post(path, { password: next }, { from: path })
  const page = await visitor.get(String(headers.location))
  expect([page.statusCode, page.body.includes('Password set. Sign in with it.')]).toEqual([200, true])
  await visitor.post('/sign-in', { email, password: next }, { from: String(headers.location) })
  expect((await visitor.get('/account')).body).toContain(email)
  expect(await isSignedIn(before)).toBe(false)
})

test('of two concurrent uses of a reset link one sets the password', async () => {
  const { email } = await newOffice(fixture)
  const path = await resetPath(fixture, email)
  // Both have the form before one of them has sent it: after that there is none.
  const open = async () => {
    const visitor = newVisitor(fixture.app)
    const { body } = await visitor.get(path)
    return { visitor, _csrf: csrfOf(body) }
  }
  const opened = [await open(), await open()]
  const replies = opened.map(({ visitor, _csrf }) => visitor.postBare(path, { _csrf, password: next }))
  const statuses = (await Promise.all(replies)).map(({ statusCode }) => statusCode)
  expect(statuses.toSorted()).toEqual([303, 404])
})

test('a reset link ends after 30 minutes, and when a newer one is made', async () => {
  const { email } = await newOffice(fixture)
  const [first, second] = [await resetPath(fixture, email), await resetPath(fixture, email)]
  const statusOf = async (path: string) => (await newVisitor(fixture.app).get(path)).statusCode
  expect([await statusOf(first), await statusOf(second)]).toEqual([404, 200])
  const age = (minutes: number) =>
    fixture.run(sql`update one_time_tokens set ends_at = ends_at - make_interval(mins => ${minutes})`)
  await age(29)
  expect(await statusOf(second)).toBe(200)
  await age(1)
  expect(await statusOf(second)).toBe(404)
})

test('a reset link lets its browser in while others attack the account', async () => {
  const { email } = await newOffice(fixture)
  const { limits, takeAttempt } = await import('../signIn/attempts.ts')
  for (let index = 0; index <= limits.account.attempts; index++)
    await takeAttempt(fixture.db, { email, address: `198.18.5.${index}`, device: undefined })
  const visitor = newVisitor(fixture.app)
  expect((await visitor.signIn(email)).statusCode).toBe(429)
  const path = await resetPath(fixture, email)
  await visitor.post(path, { password: next }, { from: path })
  expect((await visitor.signIn(email, next)).statusCode).toBe(303)
})
