import { parseToken } from '@tally/access'
import type { OrganizationId } from '@tally/contract'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { newEvent, newOffice, signedIn, useFixture } from '../test/fixture.ts'

const fixture = useFixture()

type Visitor = Awaited<ReturnType<typeof signedIn>>['visitor']

const usual = { name: 'Kitchen screen', scope: 'analytics:read', eventId: '', ends: 'never' }
const tokenOf = (page: string) => /tally_\w{12}_\w{49}/.exec(page)?.[0] ?? ''
async function make(visitor: Visitor, over: Record<string, string | string[]> = {}) {
  const reply = await visitor.post('/keys', { ...usual, ...over }, { from: '/keys/new' })
  const token = tokenOf(reply.body)
  return { reply, token, keyId: parseToken(token)?.keyId ?? '' }
}
const rowOf = (keyId: string) =>
  fixture.db.selectFrom('api_keys').selectAll().where('key_id', '=', keyId).executeTakeFirst()
async function auditOf(organizationId: OrganizationId) {
  const { rows } = await fixture.run(sql<{ action: string }>`
select action, subject, email, address from audit_entries
where organization_id = ${organizationId} order by audit_id`)
  return rows
}

test('a new key’s token is in the answer to the form and on no later page', async () => {
  const { visitor } = await signedIn(fixture)
  const { reply, token, keyId } = await make(visitor)
  expect(reply.statusCode).toBe(201)
  expect(reply.headers['cache-control']).toBe('no-store')
  expect(reply.body).toContain('It will not be shown again')
  expect(reply.body).toContain(
    `curl -H &quot;X-Api-Key: ${token}&quot; http://api.test/api/v1/events/EVENT_ID/live/item-counts`,
  )
  for (const path of ['/keys', `/keys/${keyId}`, '/audit', '/usage']) {
    const page = (await visitor.get(path)).body
    expect(page).not.toContain(token.slice(-49))
  }
  expect((await visitor.get('/keys')).body).toContain(keyId)
})

test('a key has what the form says: each scope once in order, its event, its expiry', async () => {
  const { visitor, organizationId } = await signedIn(fixture)
  const eventId = await newEvent(fixture, organizationId)
  const scope = ['orders:read', 'events:read', 'orders:read']
  const { keyId, reply } = await make(visitor, { name: '  Till  ', scope, eventId, ends: 'day' })
  const row = await rowOf(keyId)
  expect(row).toMatchObject({ name: 'Till', scopes: ['events:read', 'orders:read'], event_id: eventId })
  expect((row?.expires_at ?? 0) - (row?.created_at ?? 0)).toBeCloseTo(24 * 3_600_000, -4)
  expect(reply.body).toContain(`/api/v1/events/${eventId}/orders`)
})

test('a key may end after a chosen day, and the page of its token says when, of which event', async () => {
  const { visitor, organizationId } = await signedIn(fixture)
  const eventId = await newEvent(fixture, organizationId)
  const { keyId, reply } = await make(visitor, { eventId, ends: 'date', lastDay: '2031-08-30' })
  expect((await rowOf(keyId))?.expires_at).toBe(Date.parse('2031-08-31T12:00:00Z'))
  for (const text of ['2031-08-31 12:00 UTC', '<dd><bdi>Sagra', 'analytics:read'])
    expect(reply.body).toContain(text)
  const { keyId: forAWeek } = await make(visitor, { ends: 'week' })
  expect((await visitor.get(`/keys/${forAWeek}`)).body).not.toContain('Ends soon')
})

test('a preset fills in the form: its scopes, and the event that is open', async () => {
  const { visitor, organizationId } = await signedIn(fixture)
  const closed = [{ dayId: 1, date: '2026-09-05', openedAt: 0, closedAt: 1 }]
  await newEvent(fixture, organizationId, { name: 'Over', days: closed, startDate: 2 })
  const eventId = await newEvent(fixture, organizationId)
  const chosen = async (path: string) => {
    const { body } = await visitor.get(path)
    const scopes = [...body.matchAll(/name="scope" value="([^"]+)" checked/g)].map(([, scope]) => scope)
    return { scopes, event: /value="([^"]*)" selected>Sagra/.exec(body)?.[1] }
  }
  expect(await chosen('/keys/new?for=device')).toEqual({ scopes: ['analytics:read'], event: eventId })
  const dashboard = { scopes: ['events:read', 'analytics:read'], event: eventId }
  expect(await chosen('/keys/new?for=dashboard')).toEqual(dashboard)
  expect((await make(visitor, { scope: dashboard.scopes })).reply.body).toContain('/docs/dashboard/#key=')
  expect(await chosen('/keys/new?for=constructor')).toEqual({ scopes: [], event: undefined })
})

test('a key’s page says what it asked in the last day, with each error, and how to use it', async () => {
  const { visitor, organizationId } = await signedIn(fixture)
  const eventId = await newEvent(fixture, organizationId)
  const { keyId } = await make(visitor, { eventId })
  const { keyId: other } = await make(visitor)
  expect((await visitor.get(`/keys/${keyId}`)).body).toContain('<p>0 requests</p>')
  const { redis, keys } = fixture.deps
  const hash = keys.requests(organizationId, Math.floor(Date.now() / 300_000) - 12)
  const counts = { [`${keyId}:200`]: 1_234, [`${keyId}:429`]: 12, [`${keyId}:404`]: 1, [`${other}:429`]: 5 }
  await redis.hset(hash, counts)
  const { body } = await visitor.get(`/keys/${keyId}`)
  expect(body).toContain('<p>1,247 requests</p>')
  const errors = [...body.matchAll(/revoked">(\d+)<\/span> ([^<]+)</g)].map(([, ...error]) => error)
  expect(errors).toEqual([
    ['429', 'rate limit, 12 times'],
    ['404', 'no such event or path, 1 time'],
  ])
  expect(body).toContain(`X-Api-Key: tally_…&quot; http://api.test/api/v1/events/${eventId}/live/item-counts`)
  expect(body).toContain('<a href="http://api.test/docs/guide" target="_blank" rel="noopener">Guides</a>')
  await visitor.post(`/keys/${keyId}/revoke`, {}, { from: '/keys/new' })
  expect((await visitor.get(`/keys/${keyId}`)).body).not.toContain('tally_…')
})

test.for([
  { why: 'no name', over: { name: '  ' }, says: 'Enter a name' },
  { why: 'a control character in its name', over: { name: 'a\x1b[2Jb' }, says: 'without control characters' },
  { why: 'a bidirectional mark in its name', over: { name: 'a\u202eb' }, says: 'without control characters' },
  { why: 'no scope', over: { scope: [] }, says: 'Select at least one scope' },
  { why: 'an unknown scope', over: { scope: 'orders:write' }, says: 'Select at least one scope' },
  { why: 'also a scope that is unknown', over: { scope: ['orders:read', 'x'] }, says: 'at least one scope' },
  { why: 'no such event', over: { eventId: 'x' }, says: 'Choose one of your events' },
  { why: 'no such time', over: { ends: 'toString' }, says: 'Choose when it ends' },
])('a form with $why says so, keeps what was typed, and makes no key', async ({ over, says }) => {
  const { visitor, organizationId } = await signedIn(fixture)
  const { reply } = await make(visitor, over)
  expect(reply.statusCode).toBe(400)
  expect(reply.body).toContain(says)
  if (!('name' in over)) expect(reply.body).toContain('value="Kitchen screen"')
  expect(await auditOf(organizationId)).toHaveLength(1)
})

test('an event of another organization cannot be bound', async () => {
  const { visitor } = await signedIn(fixture)
  const other = await newOffice(fixture)
  const eventId = await newEvent(fixture, other.organizationId)
  expect((await make(visitor, { eventId })).reply.statusCode).toBe(400)
})

test('another organization’s key gets the same 404 as a missing one, for every page and form', async () => {
  const own = await signedIn(fixture)
  const other = await signedIn(fixture)
  const { keyId } = await make(other.visitor)
  for (const path of ['', '/revoke', '/rotate']) {
    const foreign = await own.visitor.get(`/keys/${keyId}${path}`)
    const absent = await own.visitor.get(`/keys/zzzzzzzzzzzz${path}`)
    expect([foreign.statusCode, absent.statusCode]).toEqual([404, 404])
    expect(withoutTokens(foreign.body)).toBe(withoutTokens(absent.body))
    expect(absent.body).not.toContain('aria-current')
  }
  for (const path of ['revoke', 'rotate'])
    expect(
      (await own.visitor.post(`/keys/${keyId}/${path}`, { grace: 'now' }, { from: '/keys/new' })).statusCode,
    ).toBe(404)
  expect(await rowOf(keyId)).toMatchObject({ revoked_at: null, expires_at: null })
  expect((await own.visitor.get('/keys')).body).not.toContain(keyId)
})

test('a key is revoked after a confirmation; revoking it twice leaves one audit entry', async () => {
  const { visitor, organizationId, email } = await signedIn(fixture)
  const { keyId } = await make(visitor)
  expect((await visitor.get(`/keys/${keyId}/revoke`)).body).toContain('This cannot be undone')
  expect(await rowOf(keyId)).toMatchObject({ revoked_at: null })
  const from = { from: `/keys/${keyId}/revoke` }
  const reply = await visitor.post(`/keys/${keyId}/revoke`, {}, from)
  const listed = await visitor.get(reply.headers.location ?? '')
  expect(listed.body).toContain('“<bdi>Kitchen screen</bdi>” is revoked')
  const { revoked_at } = (await rowOf(keyId)) ?? {}
  expect(revoked_at).toBeGreaterThan(Date.now() - 10_000)
  await visitor.post(`/keys/${keyId}/revoke`, {}, { from: '/keys/new' })
  expect(await rowOf(keyId)).toMatchObject({ revoked_at })
  const who = { email, address: '192.0.2.1' }
  expect(await auditOf(organizationId)).toEqual([
    { action: 'sign-in', subject: null, ...who },
    { action: 'key-created', subject: keyId, ...who },
    { action: 'key-revoked', subject: keyId, ...who },
  ])
})

test('a rotated key has an equal successor, and stays valid for the chosen time', async () => {
  const { visitor } = await signedIn(fixture)
  const { keyId, token } = await make(visitor, { scope: ['events:read', 'orders:read'] })
  const path = `/keys/${keyId}/rotate`
  const reply = await visitor.post(path, { grace: 'hour' }, { from: path })
  expect(reply.statusCode).toBe(201)
  const next = tokenOf(reply.body)
  expect(next).not.toBe(token)
  const [old, successor] = [await rowOf(keyId), await rowOf(parseToken(next)?.keyId ?? '')]
  expect((old?.expires_at ?? 0) - Date.now()).toBeGreaterThan(3_590_000)
  expect((old?.expires_at ?? 0) - Date.now()).toBeLessThanOrEqual(3_600_000)
  expect(successor).toMatchObject({ name: 'Kitchen screen', scopes: old?.scopes, expires_at: null })
})

test('a rotation never extends the old key, and ends it at once if that is chosen', async () => {
  const { visitor } = await signedIn(fixture)
  const short = await make(visitor, { ends: 'day' })
  const endsAt = (await rowOf(short.keyId))?.expires_at
  await visitor.post(`/keys/${short.keyId}/rotate`, { grace: 'week' }, { from: '/keys/new' })
  expect(await rowOf(short.keyId)).toMatchObject({ expires_at: endsAt, revoked_at: null })

  const { keyId } = await make(visitor)
  await visitor.post(`/keys/${keyId}/rotate`, { grace: 'now' }, { from: '/keys/new' })
  expect((await rowOf(keyId))?.revoked_at).toBeGreaterThan(0)
})

test.for(['now', 'day'])(
  'of two concurrent rotations of one key that end it “%s”, one creates a key',
  async grace => {
    const { visitor, organizationId } = await signedIn(fixture)
    const { keyId } = await make(visitor)
    const twice = [1, 2].map(() => visitor.post(`/keys/${keyId}/rotate`, { grace }, { from: '/keys/new' }))
    const statuses = (await Promise.all(twice)).map(({ statusCode }) => statusCode)
    expect(statuses.toSorted()).toEqual([201, 409])
    const keys = fixture.db.selectFrom('api_keys').selectAll().where('organization_id', '=', organizationId)
    expect(await keys.execute()).toHaveLength(2)
  },
)

test('a rotation whose page cannot be shown changes nothing', async () => {
  const { visitor, organizationId } = await signedIn(fixture)
  const { keyId } = await make(visitor)
  await fixture.run(sql`revoke select on events from tally_admin`)
  const form = { grace: 'now' }
  const { statusCode } = await visitor.post(`/keys/${keyId}/rotate`, form, { from: '/account' })
  await fixture.run(sql`grant select on events to tally_admin`)
  expect([statusCode, (await rowOf(keyId))?.revoked_at]).toEqual([500, null])
  expect((await auditOf(organizationId)).map(({ action }) => action)).not.toContain('key-rotated')
})

test('ended keys are listed page by page, and too many active ones are refused with a page', async () => {
  const { visitor, organizationId } = await signedIn(fixture)
  const key = {
    secret_sha256: Buffer.alloc(32),
    organization_id: organizationId,
    scopes: ['events:read' as const],
  }
  const keyOf = (index: number, revoked_at: string | null) => ({
    ...key,
    key_id: `${organizationId.slice(0, 8)}${String(index).padStart(4, '0')}`,
    name: `till ${index}`,
    event_id: null,
    created_at: new Date(index * 1_000).toISOString(),
    revoked_at,
    expires_at: null,
    last_used_at: null,
  })
  const ended = Array.from({ length: 60 }, (_, index) => keyOf(index, new Date().toISOString()))
  const active = Array.from({ length: 200 }, (_, index) => keyOf(1_000 + index, null))
  await fixture.db
    .insertInto('api_keys')
    .values([...ended, ...active])
    .execute()
  const first = (await visitor.get('/keys')).body
  const shown = ['till 59<', 'till 9<', 'till 1199<'].map(name => first.includes(name))
  expect(shown).toEqual([true, false, true])
  const older = /href="(\/keys\?before=\w{12})"/.exec(first)?.[1] ?? ''
  expect((await visitor.get(older)).body).toContain('till 9<')
  const { reply } = await make(visitor)
  expect([reply.statusCode, reply.body.includes('Too many API keys')]).toEqual([409, true])
})

test('a name is escaped on every page', async () => {
  const { visitor } = await signedIn(fixture)
  const name = `<form method="post"><img src=x>"'`
  const { keyId } = await make(visitor, { name })
  const own = ['', '/revoke', '/rotate'].map(end => `/keys/${keyId}${end}`)
  for (const path of ['/keys', ...own, '/audit']) {
    const { body } = await visitor.get(path)
    expect(body).toContain('&lt;form method=&quot;post&quot;&gt;&lt;img src=x&gt;&quot;&#39;')
    expect(body).not.toContain('<img src=x')
    expect(body).toContain('Pro Loco &lt;b&gt;San Vito&lt;/b&gt;')
  }
})

test('the audit page shows only entries of the organization, page by page', async () => {
  const { visitor, organizationId, email } = await signedIn(fixture)
  const others = await signedIn(fixture)
  const entry = { organization_id: organizationId, email, action: 'key-created', address: '::1' }
  await fixture.db
    .insertInto('audit_entries')
    .values(Array.from({ length: 60 }, (_, index) => ({ ...entry, subject: `key-${index}` })))
    .execute()
  const first = (await visitor.get('/audit')).body
  expect(first).toContain('key-59')
  expect(first).not.toContain('key-9<')
  // That of the form to sign out: the filter would send it as part of an address.
  expect(first.match(/name="_csrf"/g)).toHaveLength(1)
  const older = /href="(\/audit\?before=\d+)"/.exec(first)?.[1] ?? ''
  expect((await visitor.get(older)).body).toContain('key-9<')
  expect((await others.visitor.get('/audit')).body).not.toContain('key-59')
  expect((await visitor.get('/audit?before=x')).statusCode).toBe(400)
})

const withoutTokens = (page: string) => page.replace(/name="_csrf" value="[^"]*"/g, '')
