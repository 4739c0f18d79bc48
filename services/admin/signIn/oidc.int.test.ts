import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { Provider } from 'oidc-provider'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { type Fixture, newOffice, newVisitor, openFixture, password } from '../test/fixture.ts'
import { limits } from './attempts.ts'
import { createOidc } from './oidc.ts'

/** The claims of the provider's accounts, by subject. */
const accounts = new Map<string, { email: string; email_verified: boolean }>()
const adminUrl = 'http://admin.test'
let provider: Server
let issuer: string
let fixture: Fixture
const openProvider = (at = issuer) =>
  createOidc({
    issuer: at,
    clientId: 'tally',
    clientSecret: 'a secret of the provider',
    adminUrl,
    trustsEmail: false,
  })

beforeAll(async () => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  provider = server.on('request', providerAt(issuer).callback())
  fixture = await openFixture({ oidc: openProvider() })
})
afterAll(async () => {
  await fixture.close()
  provider.closeAllConnections()
  provider.close()
})

/** A real provider with its own pages for sign-in and consent, which accepts any name without a password. */
function providerAt(issuer: string): Provider {
  return new Provider(issuer, {
    clients: [
      {
        client_id: 'tally',
        client_secret: 'a secret of the provider',
        redirect_uris: [`${adminUrl}/sign-in/oidc/callback`],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    features: { devInteractions: { enabled: true } },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, ...accounts.get(sub) }) }),
  })
}

type Visitor = ReturnType<typeof newVisitor>

/** Goes to the provider, signs in there as `sub`, agrees, and returns the address that it sends the browser back to. */
async function throughProvider(
  visitor: Visitor,
  sub: string,
  path = '/sign-in/oidc',
  { jar = new Map<string, string>() } = {},
): Promise<string> {
  const browse = async (url: string, form?: Record<string, string>): Promise<Response> => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const body = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }
    const reply = await fetch(url, { ...body, headers: { cookie }, redirect: 'manual' })
    for (const line of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      jar.set(name, value)
    }
    return reply
  }
  let reply = await browse(String((await visitor.get(path)).headers.location))
  for (let step = 0; step < 12; step++) {
    const next = reply.headers.get('location')
    if (next?.startsWith(adminUrl)) return next.slice(adminUrl.length)
    if (next !== null) {
      reply = await browse(new URL(next, issuer).href)
      continue
    }
    const page = await reply.text()
    const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1] ?? ''
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? ''
    reply = await browse(new URL(action, issuer).href, { prompt, login: sub, password: 'any' })
  }
  throw new Error('the provider did not send the browser back')
}

async function officeWith(sub: string, over: Partial<{ email: string; email_verified: boolean }> = {}) {
  const office = await newOffice(fixture)
  accounts.set(sub, { email: office.email.toUpperCase(), email_verified: true, ...over })
  return office
}

test('an administrator signs in through the provider, without a password, and gets to the requested page', async () => {
  await officeWith('anna')
  const visitor = newVisitor(fixture.app)
  const page = await visitor.get('/sign-in?next=/usage')
  const [, link = ''] = /href="(\/sign-in\/oidc[^"]*)"/.exec(page.body) ?? []
  const back = await throughProvider(visitor, 'anna', link)
  const reply = await visitor.get(back)
  expect([reply.statusCode, reply.headers.location]).toEqual([303, '/usage'])
  expect((await visitor.get('/keys')).statusCode).toBe(200)
  expect((await visitor.get('/audit')).body).toContain('Signed in through the OpenID provider')
})

test('a user who is not an administrator, or whose e-mail is not verified, is refused, and the log says why', async () => {
  const logged = vi.spyOn(fixture.deps.logger, 'info')
  onTestFinished(() => logged.mockRestore())
  accounts.set('stranger', { email: 'stranger@example.org', email_verified: true })
  await officeWith('unverified', { email_verified: false })
  for (const sub of ['stranger', 'unverified']) {
    const visitor = newVisitor(fixture.app)
    const { statusCode, body } = await visitor.get(await throughProvider(visitor, sub))
    expect([statusCode, /No administrator has the e-mail|e-mail address is not verified/.test(body)]).toEqual(
      [403, true],
    )
    expect((await visitor.get('/keys')).statusCode).toBe(303)
  }
  const denied = newVisitor(fixture.app)
  const sent = String((await denied.get('/sign-in/oidc')).headers.location)
  const state = new URL(sent).searchParams.get('state')
  const from = `state=${state}&iss=${encodeURIComponent(issuer)}`
  const callback = `/sign-in/oidc/callback?error=access_denied&error_description=secret&${from}`
  expect((await denied.get(callback)).statusCode).toBe(403)
  expect((await denied.get(callback)).statusCode).toBe(400)
  const lines = logged.mock.calls.map(([fields]) => fields as unknown as { provider: string; reason: string })
  expect(lines.map(({ reason }) => reason)).toEqual([
    'no administrator has this account',
    'the provider’s answer lacks: verified-email',
    expect.stringMatching(/^the provider’s answer is not valid: .*\(access_denied\)$/),
    'the sign-in has expired, or was not begun in this browser',
  ])
  expect(lines.every(({ provider }) => provider === new URL(issuer).host)).toBe(true)
  expect(JSON.stringify(lines)).not.toMatch(/secret|code=|eyJ/)
})

test('another account that later gets an administrator’s e-mail does not become that administrator', async () => {
  const { email } = await officeWith('first')
  const first = newVisitor(fixture.app)
  expect((await first.get(await throughProvider(first, 'first'))).statusCode).toBe(303)
  accounts.set('second', { email, email_verified: true })
  const second = newVisitor(fixture.app)
  expect((await second.get(await throughProvider(second, 'second'))).statusCode).toBe(403)
})

test('a callback that this browser did not request, that was changed, or that is repeated is refused', async () => {
  await officeWith('berta')
  const visitor = newVisitor(fixture.app)
  const back = await throughProvider(visitor, 'berta')
  expect((await newVisitor(fixture.app).get(back)).statusCode).toBe(400)

  const changed = newVisitor(fixture.app)
  const other = await throughProvider(changed, 'berta')
  expect((await changed.get(other.replace(/state=[^&]+/, 'state=x'))).statusCode).toBe(400)
  // As it was the answer to another tab's, its own still comes.
  expect((await changed.get(other)).statusCode).toBe(303)

  expect((await visitor.get(back)).statusCode).toBe(303)
  expect((await visitor.get(back)).statusCode).toBe(400)
})

test('the cookie of a sign-in works once, and only as Tally made it', async () => {
  await officeWith('clara')
  const visitor = newVisitor(fixture.app)
  const back = await throughProvider(visitor, 'clara')
  const cookie = visitor.cookies.get('tally_oidc') ?? ''
  const changed = newVisitor(fixture.app)
  const [state, sealed = ''] = cookie.split('.')
  const pending = JSON.parse(Buffer.from(sealed, 'base64url').toString())
  const changes = Buffer.from(JSON.stringify({ ...pending, next: '/audit' })).toString('base64url')
  const forged = `${state}.${changes}`
  changed.cookies.set('tally_oidc', forged)
  expect((await changed.get(back)).statusCode).toBe(400)

  const copy = newVisitor(fixture.app)
  copy.cookies.set('tally_oidc', cookie)
  expect((await visitor.get(back)).statusCode).toBe(303)
  expect((await copy.get(back)).statusCode).toBe(400)
})

test('who came through the provider proves it there again before a change of a key', async () => {
  await officeWith('dora')
  const visitor = newVisitor(fixture.app)
  await visitor.get(await throughProvider(visitor, 'dora'))
  await fixture.run(sql`update admin_sessions set confirmed_at = now() - interval '30 minutes'`)
  const { location = '' } = (await visitor.get('/keys/new')).headers
  const link = /href="(\/sign-in\/oidc\?fresh=yes[^"]*)"/.exec((await visitor.get(location)).body)?.[1] ?? ''
  const path = link.replaceAll('&amp;', '&')
  const sent = new URL(String((await newVisitor(fixture.app).get(path)).headers.location)).searchParams
  expect([sent.get('prompt'), sent.get('max_age')]).toEqual(['login', '0'])
  // A password is not asked for, and proves nothing.
  const confirm = { password, next: '/keys/new' }
  expect((await visitor.post('/confirm', confirm, { from: '/keys' })).statusCode).toBe(403)
  const reply = await visitor.get(await throughProvider(visitor, 'dora', path))
  expect([reply.statusCode, reply.headers.location]).toEqual([303, '/keys/new'])
  expect((await visitor.get('/keys/new')).statusCode).toBe(200)
})

const freshPath = '/sign-in/oidc?fresh=yes&next=/keys/new'
const makesKeys = async (visitor: Visitor) => (await visitor.get('/keys/new')).statusCode === 200

test('a sign-in at the provider ten hours ago signs in, but does not confirm a change of a key', async () => {
  await officeWith('gina')
  const jar = new Map<string, string>()
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 10 * 3_600_000)
  await throughProvider(newVisitor(fixture.app), 'gina', '/sign-in/oidc', { jar })
  clock.mockRestore()
  const visitor = newVisitor(fixture.app)
  await visitor.get(await throughProvider(visitor, 'stranger', '/sign-in/oidc', { jar }))
  expect((await visitor.get('/keys')).statusCode).toBe(200)
  expect(await makesKeys(visitor)).toBe(false)
  await visitor.get(await throughProvider(visitor, 'gina', freshPath, { jar }))
  expect(await makesKeys(visitor)).toBe(true)
})

test('who signs in as someone else to confirm gets neither session', async () => {
  await officeWith('julia')
  await officeWith('kim')
  const visitor = newVisitor(fixture.app)
  await visitor.get(await throughProvider(visitor, 'julia'))
  await fixture.run(sql`update admin_sessions set confirmed_at = now() - interval '30 minutes'`)
  const reply = await visitor.get(await throughProvider(visitor, 'kim', freshPath))
  expect([reply.statusCode, reply.body.includes('Another account')]).toEqual([403, true])
  expect(await makesKeys(visitor)).toBe(false)
})

test('a required second factor is the provider’s matter for those who come through it', async () => {
  const required = await openFixture({ oidc: openProvider(), requiresSecondFactor: true })
  const { email } = await newOffice(required)
  accounts.set('emma', { email, email_verified: true })
  const visitor = newVisitor(required.app)
  await visitor.get(await throughProvider(visitor, 'emma'))
  const { statusCode } = await visitor.get('/keys')
  await sql`update administrators set enrol_until = null`.execute(required.db)
  expect((await visitor.get('/account/second-factor')).statusCode).toBe(200)
  const page = (await newVisitor(required.app).get('/sign-in')).body
  await required.close()
  expect(statusCode).toBe(200)
  expect(page).toContain('/sign-in/oidc?next=')
})

test('attempts through the provider are counted by network, together with those by password', async () => {
  const visitor = newVisitor(fixture.app, '203.0.113.20')
  const statuses: number[] = []
  for (let attempt = 0; attempt <= limits.network.attempts; attempt++)
    statuses.push((await visitor.get('/sign-in/oidc')).statusCode)
  expect(statuses).toEqual([...Array(limits.network.attempts).fill(303), 429])
  expect((await visitor.signIn('anna@example.org')).statusCode).toBe(429)
})

test('without a provider there is no link and no route to it', async () => {
  const without = await openFixture()
  const visitor = newVisitor(without.app)
  const page = (await visitor.get('/sign-in')).body
  const { statusCode } = await visitor.get('/sign-in/oidc')
  await without.close()
  expect(page).not.toContain('/sign-in/oidc')
  expect(statusCode).toBe(404)
})

test('if the provider does not answer the page says so, and the password still works', async () => {
  const cut = await openFixture({ oidc: openProvider('http://127.0.0.1:1') })
  const { email } = await newOffice(cut)
  const visitor = newVisitor(cut.app)
  const statuses = [(await visitor.get('/sign-in/oidc')).statusCode, (await visitor.signIn(email)).statusCode]
  await cut.close()
  expect(statuses).toEqual([503, 303])
})
