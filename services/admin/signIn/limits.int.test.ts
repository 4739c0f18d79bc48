import { hash } from 'node:crypto'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import {
  newOffice,
  newVisitor,
  openFixture,
  password,
  realCost,
  resetPath,
  useFixture,
} from '../test/fixture.ts'
import { countAttempt, limits, takeAttempt } from './attempts.ts'

const fixture = useFixture()

const next = 'un altro gelato alla fragola'
type Visitor = ReturnType<typeof visitor>
const visitor = (address?: string) => newVisitor(fixture.app, address)

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
    Array.from({ length: limits[limit].attempts }, (_, index) => takeAttempt(fixture.db, attempt(index))),
  )

test('attempts are limited by network across accounts, then by site; other networks are not affected', async () => {
  const { email } = await newOffice(fixture)
  const address = '2001:db8:1:2::1'
  const taken = await useUp('network', index => ({ email: `${index}@example.org`, address }))
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

const rows = async () => (await fixture.db.selectFrom('sign_in_attempts').selectAll().execute()).length

test('a network over its limit reaches no account and leaves no further row', async () => {
  const { email } = await newOffice(fixture)
  const { db } = fixture
  const address = '203.0.113.50'
  await useUp('network', index => ({ email: `${index}@example.com`, address }))
  const before = await rows()
  const refused = await inTurn(limits.account.attempts + 1, index =>
    takeAttempt(db, { email: index % 2 === 0 ? email : `new-${index}@example.com`, address }),
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
  await own.post('/sign-out', {}, { from: '/keys' })
  await fixture.run(sql`update known_devices set last_used_at = now() - interval '180 days'`)
  expect((await own.signIn(email)).statusCode).toBe(429)
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

test.for([
  {
    route: '/confirm',
    status: 401,
    send: (own: Visitor, given: string) =>
      own.post('/confirm', { password: given, next: '/' }, { from: '/confirm' }),
  },
  {
    route: '/account/password',
    status: 400,
    send: (own: Visitor, current: string) =>
      own.post('/account/password', { current, password: next }, { from: '/account' }),
  },
  {
    route: 'a reset link',
    status: 400,
    send: (_own: Visitor, given: string, link: string) =>
      visitor().post(link, { password: given }, { from: link }),
  },
])('$route takes ten wrong passwords, and then not the right one', async ({ status, send }) => {
  const { email } = await newOffice(fixture)
  const link = await resetPath(fixture, email)
  const own = visitor('203.0.113.66')
  await own.signIn(email)
  const statuses = await inTurn(11, async () => (await send(own, 'x', link)).statusCode)
  expect(statuses).toEqual([...Array(10).fill(status), 429])
  expect((await send(own, password, link)).statusCode).toBe(429)
  const { body } = await own.get('/audit')
  if (status === 401) expect([...body.matchAll(/"What">Sign-in refused/g)]).toHaveLength(10)
  if (status === 401) expect([...body.matchAll(/"What">Too many sign-in attempts/g)]).toHaveLength(1)
})

type Gate = PromiseWithResolvers<void>
/** Passwords that are checked until the gate opens: two of them, and the others wait. */
const fill = (gate: Gate, isKnown: boolean, count: number) =>
  Array.from({ length: count }, (_, n) =>
    fixture.deps.queuePasswordHash({ isKnown, from: `other ${n}` }, () => gate.promise),
  )

test('a stranger takes no place of known browsers in the queue of password checks', async () => {
  const { email } = await newOffice(fixture)
  const own = visitor('203.0.113.72')
  await own.signIn(email)
  await own.post('/sign-out', {}, { from: '/keys' })
  const gate = Promise.withResolvers<void>()
  const others = fill(gate, true, 12)
  const before = await rows()
  const stranger = visitor('203.0.113.73').signIn(email, 'x')
  await until('the attempt is counted', async () => (await rows()) > before)
  const known = (await own.signIn(email)).statusCode
  gate.resolve()
  await Promise.all(others)
  expect([known, (await stranger).statusCode]).toEqual([503, 401])
})

test('attempts that find the queue of password checks full do not count', async () => {
  const { email } = await newOffice(fixture)
  const link = await resetPath(fixture, email)
  const own = visitor('203.0.113.67')
  await own.signIn(email)
  const tries = [
    () => visitor('203.0.113.68').signIn(email),
    () => own.post('/confirm', { password, next: '/' }, { from: '/confirm' }),
    () => own.post('/account/password', { current: 'x', password: next }, { from: '/account' }),
    () => visitor().post(link, { password: next }, { from: link }),
  ]
  const tryAll = () => inTurn(tries.length, async index => (await tries[index]?.())?.statusCode)
  const countOther = async () => (await countAttempt(fixture.db, 'reset', 'other')).attempts
  expect(await countOther()).toBe(1)
  const gate = Promise.withResolvers<void>()
  const others = [...fill(gate, true, 12), ...fill(gate, false, 10)]
  const shed = await inTurn(limits.pair.attempts + 1, tryAll)
  gate.resolve()
  await Promise.all(others)
  expect([new Set(shed.flat()), await countOther()]).toEqual([new Set([503]), 2])
  expect(await tryAll()).toEqual([303, 303, 400, 303])
})

test('a known browser has a limit of its own, and is known for its own account only', async () => {
  const [anna, berta] = [await newOffice(fixture), await newOffice(fixture)]
  const own = visitor('203.0.113.70')
  await own.signIn(anna.email)
  await own.post('/sign-out', {}, { from: '/keys' })
  await visitor('203.0.113.71').signIn(berta.email)
  await useUp('account', index => ({ email: berta.email, address: `198.18.2.${index}` }))
  expect((await own.signIn(berta.email)).statusCode).toBe(429)
  const statuses = await inTurn(
    limits.device.attempts + 1,
    async () => (await own.signIn(anna.email, 'x')).statusCode,
  )
  expect(statuses).toEqual([...Array(limits.device.attempts).fill(401), 429])
})

test('the browsers remembered per administrator are bounded', async () => {
  const [{ email }, other] = [await newOffice(fixture), await newOffice(fixture)]
  const elsewhere = visitor('203.0.113.81')
  await elsewhere.signIn(other.email)
  const browsers = Array.from({ length: 21 }, () => visitor('203.0.113.80'))
  for (const one of browsers) await one.signIn(email)
  // One that signs in again is one browser.
  await browsers.at(-1)?.post('/sign-out', {}, { from: '/keys' })
  await browsers.at(-1)?.signIn(email)
  const { rows } = await fixture.run(sql<{ hash: string }>`
select encode(device_sha256, 'hex') as hash from known_devices join administrators using (administrator_id)
where email in (${email}, ${other.email})`)
  const hashes = [elsewhere, ...browsers.slice(1)].map(({ cookies }) =>
    hash('sha256', cookies.get('tally_device') ?? ''),
  )
  expect(rows.map(({ hash }) => hash).toSorted()).toEqual(hashes.toSorted())
})

test('a sign-in resets the failed attempts of its network for its account, not those for other accounts', async () => {
  const { email } = await newOffice(fixture)
  const address = '198.51.100.20'
  const { pair, network } = limits
  await inTurn(pair.attempts - 1, () => visitor(address).signIn(email, 'x'))
  expect((await visitor(address).signIn(email)).statusCode).toBe(303)
  expect((await visitor(address).signIn(email, 'x')).statusCode).toBe(401)
  await inTurn(network.attempts - pair.attempts - 1, index =>
    takeAttempt(fixture.db, { email: `${index}@example.org`, address }),
  )
  expect((await visitor(address).signIn(email)).statusCode).toBe(429)
})

async function inTurn<T>(times: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let index = 0; index < times; index++) results.push(await work(index))
  return results
}
