import { METHODS } from 'node:http'
import type { Ask } from '@tally/testkit/processes/http'
import { useTally } from '@tally/testkit/processes/tally'
import { eventPaths } from '@tally/testkit/records/eventPaths'
import { newFestival } from '@tally/testkit/records/festival'
import { beforeAll, describe, expect, test, vi } from 'vitest'

const tally = useTally({ settings: { RATE_LIMITS: 'Trial=1,ActiveDayPass=1000000' } })
const festival = newFestival()
const spent = newFestival()
const base = festival.path
const tokens: Record<string, string> = {}

beforeAll(async () => {
  await tally.count([
    festival.organization(),
    festival.event(),
    spent.organization({ status: 'Trial' }),
    spent.event(),
  ])
  tokens.good = await tally.key(festival.organizationId)
  tokens.orders = await tally.key(festival.organizationId, { scopes: ['orders:read'] })
  tokens.spent = await tally.key(spent.organizationId, { scopes: ['orders:read'] })
  tokens.wrong = `${tokens.good?.slice(0, -1)}${tokens.good?.endsWith('0') ? '1' : '0'}`
  expect((await tally.get(`${spent.path}/orders`, { token: tokens.spent })).status).toBe(200)
})

/** Each request has several faults; the status shows which check comes first. */
const table: { why: string; path: string; method?: string; token?: string; is: number }[] = [
  { why: 'broken encoding before the unknown path', path: '/nowhere/%zz', is: 400 },
  { why: 'a # that would end the path', path: `${base}/orders/A#1`, is: 400 },
  { why: 'broken encoding before the method', path: `${base}?days=%`, method: 'POST', is: 400 },
  { why: 'broken encoding before the token', path: `${base}/analytics/kpis?x=%ff`, is: 400 },
  { why: 'broken encoding before the rate limit', path: `${spent.path}?a=%e2%82`, token: 'spent', is: 400 },
  { why: 'unknown path before the method', path: '/api/v1/nowhere', method: 'POST', is: 404 },
  { why: 'unknown path before the token', path: '/api/v1/nowhere', is: 404 },
  { why: 'unknown path before the rate limit', path: '/api/v1', token: 'spent', is: 404 },
  { why: 'method before the token', path: base, method: 'DELETE', is: 405 },
  { why: 'method before the parameters', path: '/api/v1/events/no-uuid', method: 'PUT', is: 405 },
  { why: 'method before the rate limit', path: base, method: 'PATCH', token: 'spent', is: 405 },
  { why: 'token before the parameters', path: '/api/v1/events/no-uuid', is: 401 },
  { why: 'token before existence', path: `${base}/orders/nobody`, token: 'wrong', is: 401 },
  { why: 'rate limit before the scope', path: '/api/v1/events', token: 'spent', is: 429 },
  { why: 'rate limit before the parameters', path: `${spent.path}/orders?page=0`, token: 'spent', is: 429 },
  { why: 'rate limit before existence', path: `${spent.path}/orders/nobody`, token: 'spent', is: 429 },
  { why: 'scope before the parameters', path: `${base}/analytics/kpis?dayId=x`, token: 'orders', is: 403 },
  { why: 'scope before existence', path: `${newFestival().path}/analytics/kpis`, token: 'orders', is: 403 },
  {
    why: 'parameters before existence',
    path: `${newFestival().path}/analytics/kpis?dayId=x`,
    token: 'good',
    is: 400,
  },
  { why: 'existence last', path: `${newFestival().path}/analytics/kpis?dayId=1`, token: 'good', is: 404 },
]

test.for(table)('$why: $is', async ({ path, method = 'GET', token, is }) => {
  const { status, headers, body } = await tally.get(path, { method, token: token && tokens[token] })
  expect(status).toBe(is)
  expect(headers['content-type']).toBe('application/problem+json')
  expect(headers['cache-control']).toBe('no-store')
  expect(headers['www-authenticate']).toBe(is === 401 ? 'Bearer' : undefined)
  expect(headers.allow).toBe(is === 405 ? 'GET, HEAD' : undefined)
  expect(headers['x-ratelimit-limit'] !== undefined).toBe(
    is === 429 || is === 403 || (token === 'good' && is !== 405),
  )
  expect(body).toMatchObject({ status: is, instance: path.split('?')[0], requestId: headers['x-request-id'] })
})

const methods = METHODS.filter(method => !['GET', 'HEAD', 'CONNECT'].includes(method))
const known = ['/api/v1/events', ...eventPaths.map(path => base + path), `${base}/orders/A`]

describe('every method but GET and HEAD is a 405 on a known path', () => {
  test.for(methods)('%s', async method => {
    for (const path of [...known, '/api/v1/events/a%2Fb', `${base}/orders/a%2Fb`]) {
      const { status, headers } = await tally.get(path, { method, token: tokens.good })
      expect({ path, status, allow: headers.allow }).toEqual({ path, status: 405, allow: 'GET, HEAD' })
    }
  })
})

test('a slash at the end, another case, a doubled slash or another version is another path: 404', async () => {
  const others = known.flatMap(path => [
    `${path}/`,
    path.replace('/api', '/API'),
    path.replace('/v1', '/v2'),
    path.replace('/events', '//events'),
  ])
  others.push(
    `${base}/Orders`,
    `${base}/analytics`,
    `${base}/live`,
    `${base}/orders/A/x`,
    '/api/v1/events//orders',
    '/',
    '/api',
    '/api/Analytics/',
  )
  for (const path of others) {
    for (const method of ['GET', 'POST']) {
      const { status } = await tally.get(path, { token: tokens.good, method })
      expect({ path, method, status }).toEqual({ path, method, status: 404 })
    }
  }
})

test('HEAD answers as GET does, without the body', async () => {
  for (const path of [...known.slice(0, 3), `${base}/orders/nobody`, '/api/v1/nowhere', `${base}?x=%zz`]) {
    const answerTo = async (method: string) => {
      const { status, text, headers } = await tally.get(path, { token: tokens.good, method })
      const names = ['etag', 'cache-control', 'content-type', 'content-length', 'x-ratelimit-limit']
      return { status, text, headers: names.map(name => headers[name]) }
    }
    // Again, if need be: a timestamp of a whole second has no milliseconds, which shortens the body.
    const compare = async () => {
      const [get, head] = [await answerTo('GET'), await answerTo('HEAD')]
      expect({ path, ...head }).toEqual({ path, ...get, text: '' })
    }
    await vi.waitFor(compare, 120_000)
  }
})

const asks = (): Record<string, Ask> => {
  const [, keyId, secret = ''] = tokens.good?.split('_') ?? []
  const own = (value: string): Ask => ({ headers: { 'X-Api-Key': value } })
  const bearer = (value: string): Ask => ({ headers: { Authorization: value } })
  return {
    none: {},
    empty: own(''),
    'both empty': { headers: { 'X-Api-Key': '', Authorization: '' } },
    'not a token': own('hello'),
    'another prefix': own(`Tally_${keyId}_${secret}`),
    'a wrong check': own(tokens.wrong ?? ''),
    'another secret, without its check': own(`tally_${keyId}_${'A'.repeat(49)}`),
    'too short': own(tokens.good?.slice(0, -1) ?? ''),
    'too long': own(`${tokens.good}0`),
    'a second token behind it': own(`${tokens.good},${tokens.good}`),
    basic: bearer(`Basic ${tokens.good}`),
    'no scheme': bearer(tokens.good ?? ''),
    'an empty bearer': bearer('Bearer '),
    'a wrong own header before a good bearer': {
      headers: { 'X-Api-Key': 'x', Authorization: `Bearer ${tokens.good}` },
    },
  }
}

test('every fault of a token reads the same, byte for byte', async () => {
  const texts = new Set<string>()
  for (const [why, ask] of Object.entries(asks())) {
    const { status, headers, text, body } = await tally.get('/api/v1/events', ask)
    expect({ why, status, authenticate: headers['www-authenticate'] }).toEqual({
      why,
      status: 401,
      authenticate: 'Bearer',
    })
    expect(headers['x-ratelimit-limit']).toBeUndefined()
    texts.add(text.replace(body.requestId, ''))
  }
  expect([...texts]).toHaveLength(1)
})

test('a token in the URL is not looked at', async () => {
  const { status } = await tally.get(`/api/v1/events?X-Api-Key=${tokens.good}&token=${tokens.good}`)
  expect(status).toBe(401)
})

test.for(['Bearer', 'bearer', 'BEARER'])(
  'a token may come as %s; an empty X-Api-Key counts as absent',
  async scheme => {
    const headers = { 'X-Api-Key': '', Authorization: `${scheme} ${tokens.good}` }
    expect((await tally.get('/api/v1/events', { headers })).status).toBe(200)
  },
)

test('every 404 reads the same, byte for byte', async () => {
  const other = newFestival()
  const paths = [
    newFestival().path,
    spent.path,
    other.path,
    `${base}/orders/nobody`,
    `${base}/orders/${'x'.repeat(65)}`,
    `${base}/orders/%C3%A9`,
    `${base}/orders/a%2Fb`,
    `${base}/orders/..%2e`,
    `${base}/analytics/kpis?dayId=999`,
    `${base}/analytics/kpis?areaId=999`,
    `${base}/live/item-counts?menuItemIds=999`,
    '/api/v1/nowhere',
  ]
  const texts = new Set<string>()
  for (const path of paths) {
    const { status, text, body } = await tally.get(path, { token: tokens.good })
    expect({ path, status }).toEqual({ path, status: 404 })
    texts.add(text.replace(body.requestId, '').replace(body.instance, ''))
  }
  expect([...texts]).toHaveLength(1)
})
