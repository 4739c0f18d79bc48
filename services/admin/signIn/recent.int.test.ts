import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { newEvent, newVisitor, password, resetPath, signedIn, useFixture } from '../test/fixture.ts'
import { openLink } from '../test/screenLink.ts'
import { forgetEnded } from './sessions.ts'

const fixture = useFixture()

const keyForm = { name: 'till', scope: 'events:read', eventId: '', ends: 'never' }

/** An administrator who signed in some minutes ago. */
async function signedInAgo(minutes: number) {
  const { visitor, ...office } = await signedIn(fixture)
  const made = await visitor.post('/keys', keyForm, { from: '/keys/new' })
  const keyId = /tally_(\w{12})_/.exec(made.body)?.[1] ?? ''
  await fixture.run(sql`
update admin_sessions set confirmed_at = confirmed_at - make_interval(mins => ${minutes})
from administrators where administrators.administrator_id = admin_sessions.administrator_id and email = ${office.email}`)
  return { visitor, keyId, ...office }
}
async function statesOf(organizationId: string) {
  const states = sql`select revoked_at is null as good from api_keys where organization_id = ${organizationId}`
  return (await fixture.run(states)).rows
}

test('30 minutes after the sign-in, keys, screen links and sessions are changed only after the password', async () => {
  const { visitor, email, keyId, organizationId } = await signedInAgo(30)
  const elsewhere = newVisitor(fixture.app)
  await elsewhere.signIn(email)
  const eventId = await newEvent(fixture, organizationId)
  const [end = ''] = /\/account\/sessions\/\d+\/end/.exec((await visitor.get('/account')).body) ?? []
  const keyPages = ['/keys/new', `/keys/${keyId}/rotate`, `/keys/${keyId}/revoke`] as const
  const confirmOf = (page: string) => `/confirm?next=${encodeURIComponent(page)}`
  for (const page of keyPages) {
    const { statusCode, headers } = await visitor.get(page)
    expect([statusCode, headers.location]).toEqual([303, confirmOf(page)])
  }
  for (const [path, form, page] of [
    ['/keys', keyForm, keyPages[0]],
    [keyPages[1], { grace: 'now' }, keyPages[1]],
    [keyPages[2], {}, keyPages[2]],
    ['/screens', { name: 'Hall', eventId }, '/screens'],
    [end, {}, '/account'],
    ['/account/sign-out-everywhere', {}, '/account'],
  ] as const) {
    const { statusCode, headers } = await visitor.post(path, form, { from: '/confirm' })
    expect([path, statusCode, headers.location?.split('%3F')[0]]).toEqual([path, 303, confirmOf(page)])
  }
  expect(await statesOf(organizationId)).toEqual([{ good: true }])
  expect((await visitor.get('/screens')).body).not.toContain('Hall')
  for (const one of [visitor, elsewhere]) expect((await one.get('/keys')).statusCode).toBe(200)

  const wrong = await visitor.post('/confirm', { password: 'x', next: '/keys/new' }, { from: '/confirm' })
  expect([wrong.statusCode, wrong.body.includes('Incorrect password.')]).toEqual([401, true])
  expect((await visitor.get('/keys/new')).statusCode).toBe(303)
  const right = await visitor.post('/confirm', { password, next: '/keys/new' }, { from: '/confirm' })
  expect([right.statusCode, right.headers.location]).toEqual([303, '/keys/new'])
  expect((await visitor.post('/keys', keyForm, { from: '/keys/new' })).statusCode).toBe(201)
  const away = { password, next: '//evil.example' }
  expect((await visitor.post('/confirm', away, { from: '/confirm' })).headers.location).toBe('/')
})

test('a sign-in of the last half hour is not asked again', async () => {
  const { visitor } = await signedInAgo(29)
  expect((await visitor.post('/keys', keyForm, { from: '/keys/new' })).statusCode).toBe(201)
})

test.for([
  { why: 'after 30 minutes without use', change: "last_seen_at = now() - interval '30 minutes'" },
  { why: 'after 12 hours', change: "created_at = now() - interval '12 hours'" },
])('a session ends $why', async ({ change }) => {
  const { visitor, email } = await signedInAgo(0)
  expect((await visitor.get('/keys')).statusCode).toBe(200)
  await fixture.run(sql`
update admin_sessions set ${sql.raw(change)}
where administrator_id = (select administrator_id from administrators where email = ${email})`)
  expect((await visitor.get('/keys')).statusCode).toBe(303)
})

test('a session in use goes on, and keeps no other one', async () => {
  const [used, unused] = [await signedIn(fixture), await signedIn(fixture)]
  for (let times = 0; times < 2; times++) {
    await fixture.run(sql`update admin_sessions set last_seen_at = last_seen_at - interval '20 minutes'`)
    expect((await used.visitor.get('/keys')).statusCode).toBe(200)
  }
  expect((await unused.visitor.get('/keys')).statusCode).toBe(303)
})

test('what has ended is deleted, and nothing else', async () => {
  const { db } = fixture.deps
  for (let times = 0; times < 2; times++) {
    const { email } = await openLink(fixture)
    await resetPath(fixture, email)
  }
  await forgetEnded(db)
  const ends = Object.entries({
    admin_sessions: "created_at = now() - interval '12 hours'",
    known_devices: "last_used_at = now() - interval '180 days'",
    one_time_tokens: 'ends_at = now()',
    screen_links: 'ends_at = now()',
    sign_in_attempts: 'ends_at = now()',
  })
  const rows = () =>
    Promise.all(
      ends.map(async ([table]) => (await fixture.run(sql`select from ${sql.table(table)}`)).rows.length),
    )
  const before = await rows()
  for (const [table, ended] of ends)
    await fixture.run(sql`
update ${sql.table(table)} set ${sql.raw(ended)} where ctid = (select max(ctid) from ${sql.table(table)})`)
  await forgetEnded(db)
  expect([before.every(count => count > 1), await rows()]).toEqual([true, before.map(count => count - 1)])
})
