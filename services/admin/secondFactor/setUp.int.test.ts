import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { codeOf, secretIn, withApp } from '../test/apps.ts'
import {
  newOffice,
  newVisitor,
  openFixture,
  password,
  resetPath,
  signedIn,
  useFixture,
} from '../test/fixture.ts'
import { createSealer } from './codes.ts'
import { sealSecrets } from './secrets.ts'
import { useCode } from './store.ts'

const fixture = useFixture()

/** What Postgres has of the only administrator of an organization. */
async function storedSecret(organizationId: string) {
  const { rows } = await fixture.run(sql<{ id: string; secret: string | null; candidate: string | null }>`
select administrator_id as id, totp_secret as secret, totp_candidate as candidate
from administrators where organization_id = ${organizationId}`)
  return rows[0] ?? { id: '', secret: null, candidate: null }
}

test('if a second factor is required, only the pages that set it up open without one', async () => {
  const required = await openFixture({ requiresSecondFactor: true })
  const { visitor } = await signedIn(required)
  const page = '/account/second-factor'
  const places = ['/keys', '/account', '/audit.csv', '/live'].map(
    async path => (await visitor.get(path)).headers.location,
  )
  const locations = await Promise.all(places)
  const form = { name: 'till', scope: 'events:read', eventId: '', ends: 'never' }
  const made = await visitor.post('/keys', form, { from: page })
  const secret = secretIn((await visitor.get(page)).body)
  await visitor.post(page, { code: codeOf(secret) }, { from: page })
  const after = (await visitor.get('/keys')).statusCode
  // Whoever turns it off with a code has a while to set up another one.
  await sql`update administrators set enrol_until = null`.execute(required.db)
  await visitor.post(`${page}/remove`, { code: codeOf(secret, 1) }, { from: page })
  const again = secretIn((await visitor.get(page)).body)
  await required.close()
  expect(new Set(locations)).toEqual(new Set([page]))
  expect([made.statusCode, made.headers.location, after]).toEqual([303, page, 200])
  expect([again.length, again]).toEqual([secret.length, expect.not.stringContaining(secret)])
})

test('if a second factor is required, a password alone sets none up: a fresh account or a reset link does', async () => {
  const required = await openFixture({ requiresSecondFactor: true })
  const { email } = await newOffice(required)
  const page = '/account/second-factor'
  const visitor = newVisitor(required.app)
  await visitor.signIn(email)
  const statuses = [(await visitor.get(page)).statusCode]
  // Who is invited uses a link first, which takes nothing from the 24 hours.
  const first = await resetPath(required, email)
  await visitor.post(first, { password }, { from: first })
  await visitor.signIn(email)
  await sql`update administrators set enrol_until = enrol_until - interval '30 minutes'`.execute(required.db)
  statuses.push((await visitor.get(page)).statusCode)
  await sql`update administrators set enrol_until = enrol_until - interval '24 hours'`.execute(required.db)
  statuses.push((await visitor.get(page)).statusCode)
  const path = await resetPath(required, email)
  statuses.push((await visitor.get(page)).statusCode)
  const next = 'un altro gelato alla fragola'
  await visitor.post(path, { password: next }, { from: path })
  await visitor.signIn(email, next)
  statuses.push((await visitor.get(page)).statusCode)
  await sql`update administrators set enrol_until = enrol_until - interval '30 minutes'`.execute(required.db)
  const secret = secretIn((await visitor.get(page)).body)
  statuses.push((await visitor.post(page, { code: '000000' }, { from: '/confirm' })).statusCode)
  await required.close()
  expect([statuses, secret]).toEqual([[200, 200, 403, 403, 200, 403], ''])
})

test('a new password ends the setting up of a second factor: who saw its secret before cannot use it', async () => {
  const { email } = await newOffice(fixture)
  const page = '/account/second-factor'
  const visitor = newVisitor(fixture.app)
  await visitor.signIn(email)
  const seen = secretIn((await visitor.get(page)).body)
  const path = await resetPath(fixture, email)
  const next = 'un altro gelato alla fragola'
  await visitor.post(path, { password: next }, { from: path })
  await visitor.signIn(email, next)
  const shown = secretIn((await visitor.get(page)).body)
  expect(shown).toHaveLength(seen.length)
  expect(shown).not.toBe(seen)
})

test('a secret is encrypted in Postgres for its administrator, while it is set up and afterwards', async () => {
  const { organizationId, visitor } = await signedIn(fixture)
  // One that is not required is set up at any time.
  await fixture.run(sql`update administrators set enrol_until = null`)
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
  const { organizationId, secret } = await withApp(fixture)
  const rotated = createSealer(['6'.repeat(64), '5'.repeat(64)])
  expect(await sealSecrets(fixture.db, rotated)).toBe(0)
  const later = { db: fixture.db, sealer: createSealer(['6'.repeat(64)]) }
  const { id } = await storedSecret(organizationId)
  expect(await useCode(later, id, codeOf(secret))).toBe('app')
  expect(await sealSecrets(fixture.db, undefined)).toBeGreaterThanOrEqual(1)
  await sealSecrets(fixture.db, createSealer(['5'.repeat(64), '6'.repeat(64)]))
})

test('without its key a second factor is still asked for, and only recovery codes pass', async () => {
  const { email, secret, recovery } = await withApp(fixture)
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
