import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { newEvent, password, signedIn, useFixture } from '../test/fixture.ts'

const fixture = useFixture()

const keyForm = { name: 'till', scope: 'events:read', eventId: '', expires: 'never' }

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
const statesOf = async (organizationId: string) =>
  (
    await fixture.db
      .selectFrom('api_keys')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .execute()
  ).map(({ revoked_at }) => (revoked_at === null ? 'good' : 'revoked'))

test('30 minutes after the sign-in, a key is made, rotated or revoked only after the password', async () => {
  const { visitor, keyId, organizationId } = await signedInAgo(30)
  for (const [path, form, page] of [
    ['/keys', keyForm, '/keys/new'],
    [`/keys/${keyId}/rotate`, { grace: 'now' }, `/keys/${keyId}/rotate`],
    [`/keys/${keyId}/revoke`, {}, `/keys/${keyId}/revoke`],
  ] as const) {
    const confirm = `/confirm?next=${encodeURIComponent(page)}`
    const [shown, sent] = [await visitor.get(page), await visitor.post(path, form, { from: '/confirm' })]
    expect([shown.statusCode, shown.headers.location]).toEqual([303, confirm])
    expect([sent.statusCode, sent.headers.location?.split('%3F')[0]]).toEqual([303, confirm])
  }
  expect(await statesOf(organizationId)).toEqual(['good'])
  expect((await visitor.get('/keys')).statusCode).toBe(200)

  const wrong = await visitor.post('/confirm', { password: 'x', next: '/keys/new' }, { from: '/confirm' })
  expect([wrong.statusCode, wrong.body.includes('Incorrect password.')]).toEqual([401, true])
  expect((await visitor.get('/keys/new')).statusCode).toBe(303)
  const right = await visitor.post('/confirm', { password, next: '/keys/new' }, { from: '/confirm' })
  expect([right.statusCode, right.headers.location]).toEqual([303, '/keys/new'])
  expect((await visitor.post('/keys', keyForm, { from: '/keys/new' })).statusCode).toBe(201)
})

test('a sign-in of the last half hour is not asked again', async () => {
  const { visitor } = await signedInAgo(29)
  expect((await visitor.post('/keys', keyForm, { from: '/keys/new' })).statusCode).toBe(201)
})

test('the password is asked ten times, and wrong ones are in the audit list', async () => {
  const { visitor } = await signedInAgo(31)
  const statuses: number[] = []
  for (let attempt = 0; attempt < 11; attempt++)
    statuses.push(
      (await visitor.post('/confirm', { password: 'x', next: '/' }, { from: '/confirm' })).statusCode,
    )
  expect(statuses).toEqual([...Array(10).fill(401), 429])
  const { body } = await visitor.get('/audit')
  expect([...body.matchAll(/"What">Sign-in refused/g)]).toHaveLength(10)
  expect([...body.matchAll(/"What">Too many sign-in attempts/g)]).toHaveLength(1)
})

test('a screen link needs a recent sign-in too, and the confirmation leads to no other site', async () => {
  const { visitor, organizationId } = await signedInAgo(30)
  const eventId = await newEvent(fixture, organizationId)
  const sent = await visitor.post('/screens', { name: 'Hall', eventId }, { from: '/screens' })
  expect([sent.statusCode, sent.headers.location?.split('%3F')[0]]).toEqual([303, '/confirm?next=%2Fscreens'])
  const form = { password, next: '//evil.example' }
  expect((await visitor.post('/confirm', form, { from: '/confirm' })).headers.location).toBe('/')
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
