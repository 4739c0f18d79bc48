import { getWhenFree } from '@tally/testkit/oracle/questions'
import { tally as command } from '@tally/testkit/processes/command'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { beforeAll, expect, test } from 'vitest'

const tally = useTally({ queries: 2 })
const festival = newFestival()
const other = newFestival()

beforeAll(() => tally.count([festival.organization(), festival.event(), other.organization(), other.event()]))

const keys = (...args: string[]) => command(['keys', ...args], tally.settings)
async function create(...more: string[]) {
  const { code, stdout, stderr } = await keys(
    'create',
    '--organization',
    festival.organizationId.toUpperCase(),
    '--name',
    'till',
    '--json',
    ...more,
  )
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}
const statuses = async (token: string, path = '/api/v1/events') =>
  (await Promise.all([0, 1].map(query => getWhenFree(tally, path, token, query)))).map(({ status }) => status)

test('a new key works at once in every process, and is listed without its token', async () => {
  const { token, ...key } = await create('--scope', 'events:read', '--scope', 'orders:read')
  expect(await statuses(token)).toEqual([200, 200])
  expect(key).toEqual({
    keyId: expect.stringMatching(/^[0-9A-Za-z]{12}$/),
    organizationId: festival.organizationId,
    name: 'till',
    scopes: ['events:read', 'orders:read'],
    eventId: null,
    createdAt: expect.stringMatching(/Z$/),
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  })
  expect(token).toMatch(new RegExp(`^tally_${key.keyId}_[0-9A-Za-z]{49}$`))
  const { stdout } = await keys('list', '--organization', festival.organizationId, '--json')
  expect(stdout).toContain(key.keyId)
  expect(stdout).not.toContain(token.split('_')[2])
})

test('the check of a token is the CRC-32 of what is before it, in six base-62 digits', async () => {
  const token = await tally.key(festival.organizationId)
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const value = [...token.slice(-6)].reduce(
    (sum: number, digit: string) => sum * 62 + alphabet.indexOf(digit),
    0,
  )
  expect(value).toBe(crc32(token.slice(0, -6)))
})

test('a revoked key is refused in every process within a second; revoking twice keeps the first time', async () => {
  const token = await tally.key(festival.organizationId)
  const [, keyId = ''] = token.split('_')
  expect(await statuses(token)).toEqual([200, 200])
  const { code, stdout } = await keys('revoke', keyId)
  const revokedAt = performance.now()
  expect(code).toBe(0)
  await until('it is refused', async () => (await statuses(token)).every(status => status === 401))
  expect(performance.now() - revokedAt).toBeLessThan(1_000)
  const again = await keys('revoke', keyId)
  expect([again.code, JSON.parse(again.stdout).revokedAt]).toEqual([0, JSON.parse(stdout).revokedAt])
})

test('a key is refused in every process within a second of its expiry, and not before', async () => {
  const expiresAt = Date.now() + 4_000
  const token = await tally.key(festival.organizationId, { expiresAt })
  expect(await statuses(token)).toEqual([200, 200])
  await until('it is refused', async () => (await statuses(token)).every(status => status === 401))
  const late = Date.now() - expiresAt
  expect(late).toBeGreaterThanOrEqual(0)
  expect(late).toBeLessThan(1_000)
})

test('each scope opens its own endpoints and no others', async () => {
  const { path } = festival
  const opens = {
    'events:read': ['/api/v1/events', path],
    'analytics:read': ['kpis', 'sales-trend', 'orders/by-hour', 'orders/top-items']
      .map(name => `${path}/analytics/${name}`)
      .concat(`${path}/live/item-counts`),
    'orders:read': [`${path}/orders`],
  }
  for (const scope of Object.keys(opens)) {
    const token = await tally.key(festival.organizationId, { scopes: [scope] as never })
    for (const [needed, paths] of Object.entries(opens)) {
      for (const asked of paths)
        expect({ scope, asked, status: await statuses(token, asked) }).toEqual({
          scope,
          asked,
          status: needed === scope ? [200, 200] : [403, 403],
        })
    }
    expect(await statuses(token, `${path}/orders/nobody`)).toEqual(
      scope === 'orders:read' ? [404, 404] : [403, 403],
    )
  }
})

test('a key may be bound to one event of its own organization only', async () => {
  const { token, eventId } = await create('--scope', 'events:read', '--event', festival.eventId)
  expect(eventId).toBe(festival.eventId)
  expect(await statuses(token, festival.path)).toEqual([200, 200])
  const wanted = [
    'create',
    '--organization',
    festival.organizationId,
    '--name',
    'x',
    '--scope',
    'events:read',
    '--event',
  ]
  expect((await keys(...wanted, other.eventId)).code).toBe(1)
  expect((await keys(...wanted, newFestival().eventId)).code).toBe(1)
})

test.for([
  { why: 'an unknown organization', code: 1, over: { '--organization': newFestival().organizationId } },
  { why: 'no UUID', code: 2, over: { '--organization': 'x' } },
  { why: 'an unknown scope', code: 2, over: { '--scope': 'orders:write' } },
  { why: 'an empty name', code: 2, over: { '--name': '' } },
  { why: 'a past expiry', code: 2, over: { '--expires-at': '2020-01-01T00:00:00Z' } },
])('$why is refused with exit code $code', async ({ code, over }) => {
  const usual = { '--organization': festival.organizationId, '--name': 'x', '--scope': 'events:read' }
  const { stdout, stderr, ...ended } = await keys('create', ...Object.entries({ ...usual, ...over }).flat())
  expect(ended.code).toBe(code)
  expect(stdout).toBe('')
  expect(stderr).toMatch(/^tally: .+\n$/)
})

test('revoking an unknown key is an error', async () => {
  expect((await keys('revoke', 'AAAAAAAAAAAA')).code).toBe(1)
})

test('the last use of a key is written, cut to the minute', async () => {
  const token = await tally.key(festival.organizationId)
  await statuses(token)
  // A process that ends writes what it noted; a running one does so within 70 s.
  for (const { process } of tally.queries) expect(await process.end()).toBe(0)
  const listed = await keys('list', '--organization', festival.organizationId, '--json')
  const [line = ''] = listed.stdout.split('\n').filter(line => line.includes(token.split('_')[1] ?? ''))
  const { lastUsedAt } = JSON.parse(line)
  expect(lastUsedAt).toMatch(/:00Z$/)
  expect(Date.now() - Date.parse(lastUsedAt)).toBeLessThan(120_000)
})

/** CRC-32 (IEEE), bit by bit. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}
