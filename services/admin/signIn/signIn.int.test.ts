import { findCredentials, hashPassword, setPassword } from '@tally/access'
import { noPostgres, untilLocked } from '@tally/testkit/servers/database'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { newOffice, newVisitor, openFixture, password, realCost, useFixture } from '../test/fixture.ts'

const fixture = useFixture()

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
  await fixture.run(sql`update administrators set password_hash = ${passwordHash} where email = ${email}`)
  expect((await visitor().signIn(email, long.slice(0, 129))).statusCode).toBe(401)
  expect((await visitor().signIn(email, long)).statusCode).toBe(303)
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

test('a password that is replaced after it was checked begins no session', async () => {
  const { email } = await newOffice(fixture)
  const { administratorId } = (await findCredentials(fixture.db, email)) ?? { administratorId: '' }
  const someone = visitor()
  const { sent } = await fixture.db.transaction().execute(async tx => {
    await setPassword(tx, administratorId, 'another')
    const sent = someone.signIn(email)
    await Promise.race([untilLocked(fixture.db, 1), sent])
    return { sent }
  })
  expect([(await sent).statusCode, (await someone.get('/keys')).statusCode]).toEqual([400, 303])
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

test.for(['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)', '/a b'])(
  'a sign-in never leads to %s',
  async next => {
    const { email } = await newOffice(fixture)
    const reply = await visitor().post('/sign-in', { email, password, next })
    expect(reply.headers.location).toBe('/')
  },
)

test('values that Postgres cannot store are answered like any other wrong value, never with a 5xx', async () => {
  const { email } = await newOffice(fixture)
  const odd = ['\0', `${email}\0`, '\ud800', 'a'.repeat(5_000), '%00', "' or 1=1 --", '💥@example.org']
  for (const given of odd) {
    const form = { email: given, password: given, next: given }
    const reply = await visitor('198.51.100.30').post('/sign-in', form)
    expect([given, reply.statusCode]).toEqual([given, 401])
  }
  const someone = visitor()
  await someone.signIn(email)
  for (const name of ['\0', 'x\0y', 'n'.repeat(201)]) {
    const fields = { name, scope: 'events:read', eventId: '', ends: 'never' }
    expect((await someone.post('/keys', fields, { from: '/keys/new' })).statusCode).toBe(400)
  }
  const pages = ['/keys?done=constructor', '/keys/%00', '/live?eventId=%00', '/audit?before=-1', '/x']
  for (const path of [...pages, '/operations']) expect((await someone.get(path)).statusCode).toBeLessThan(500)
  expect((await someone.get('/keys?done=constructor')).body).not.toContain('native code')
})

test('a form that is too large is refused', async () => {
  const reply = await visitor().post('/sign-in', { email: 'a'.repeat(20_000) })
  expect(reply.statusCode).toBe(413)
})

test('while Postgres does not answer the page says so, without internal details', async () => {
  const db = noPostgres()
  const cut = await openFixture({ db })
  const reply = await newVisitor(cut.app).signIn('anna@example.org')
  const screen = newVisitor(cut.app, undefined, { cookies: new Map([['tally_screen-7', 'x']]) })
  const onScreen = await screen.get('/screen/7')
  await cut.close()
  await db.destroy()
  expect([reply.statusCode, reply.headers['retry-after']]).toEqual([503, '2'])
  expect(reply.body).toContain('A part of Tally does not answer')
  // A screen in a hall has no keyboard.
  expect([onScreen.statusCode, onScreen.headers.refresh]).toEqual([503, '10'])
  expect(reply.headers.refresh).toBeUndefined()
  expect(reply.body).not.toMatch(/ECONN|127\.0\.0\.1|postgres/)
})

const median = (numbers: number[]) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN
