import { type Ask, ask } from '@tally/testkit/processes/http'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { beforeAll, describe, expect, test } from 'vitest'

const tally = useTally()
const festival = newFestival()
const till = 'https://till.example.org'
const addresses: Record<string, string> = {}
let token: string

beforeAll(async () => {
  await tally.count([festival.organization(), festival.event()])
  token = await tally.key(festival.organizationId)
  const start = async (name: string, settings: Record<string, string>) => {
    addresses[name] = (await tally.startQuery(settings)).address
  }
  await Promise.all([
    start('community', { EDITION: 'community', CORS_ORIGINS: '*' }),
    start('one', { CORS_ORIGINS: `https://other.example.org,${till}` }),
    start('all', { CORS_ORIGINS: '*' }),
  ])
})

const at = (name: string, path: string, options: Ask = {}) => ask(addresses[name] ?? '', path, options)

test('the community edition answers 404 to everything, whatever the token', async () => {
  const paths = [
    '/api/v1/events',
    festival.path,
    `${festival.path}/orders?page=0`,
    '/api/v1/openapi.json',
    '/docs',
    '/docs/',
    '/docs/guide',
    '/problems/not-found',
    '/docs/%ff',
    '/api/v1/events?x=%',
    '/',
  ]
  for (const path of paths) {
    for (const options of [
      { token },
      {},
      { token: 'wrong' },
      { token, method: 'POST' },
      { token, method: 'HEAD' },
      { method: 'OPTIONS', headers: { Origin: till, 'Access-Control-Request-Method': 'GET' } },
    ]) {
      const { status, headers } = await at('community', path, options)
      expect({ path, status, limit: headers['x-ratelimit-limit'] }).toEqual({
        path,
        status: 404,
        limit: undefined,
      })
      expect(headers['content-type']).toBe('application/problem+json')
    }
  }
})

const cors = (headers: object) => Object.keys(headers).filter(name => name.startsWith('access-control-'))

describe('pages of other origins', () => {
  const faults: [string, Ask, number][] = [
    [festival.path, {}, 200],
    [`${festival.path}/orders/nobody`, {}, 404],
    [`${festival.path}/orders?page=0`, {}, 400],
    [festival.path, { token: 'wrong' }, 401],
    ['/nowhere', {}, 404],
    [festival.path, { method: 'POST' }, 405],
    [`${festival.path}?x=%zz`, {}, 400],
    ['/api/v1/events/%zz', {}, 400],
  ]
  test.for(faults)(
    'may read %s, errors included, with its headers exposed: %o %i',
    async ([path, options, is]) => {
      for (const [name, allowed] of [
        ['one', till],
        ['all', '*'],
      ] as const) {
        const { status, headers } = await at(name, path, { token, ...options, headers: { Origin: till } })
        expect({ name, status, origin: headers['access-control-allow-origin'], vary: headers.vary }).toEqual({
          name,
          status: is,
          origin: allowed,
          vary: name === 'one' ? 'Origin' : undefined,
        })
        const exposed = String(headers['access-control-expose-headers']).toLowerCase().split(/, */)
        const wanted =
          'date etag retry-after tally-as-of tally-ignored x-ratelimit-limit x-ratelimit-remaining x-ratelimit-reset x-request-id'
        expect(exposed).toEqual(expect.arrayContaining(wanted.split(' ')))
      }
    },
  )

  test('may read a 304', async () => {
    const { headers } = await at('one', festival.path, { token })
    const options = { token, headers: { Origin: till, 'If-None-Match': String(headers.etag) } }
    const same = await at('one', festival.path, options)
    expect([same.status, same.headers['access-control-allow-origin']]).toEqual([304, till])
  })

  test('ask beforehand and get 204, without a token', async () => {
    const headers = {
      Origin: till,
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'x-api-key, if-none-match',
    }
    const { status, headers: answered, text } = await at('one', festival.path, { method: 'OPTIONS', headers })
    expect([status, text, answered['access-control-allow-origin']]).toEqual([204, '', till])
    const allowed = String(answered['access-control-allow-headers']).toLowerCase().split(/, */)
    expect(allowed).toEqual(expect.arrayContaining(['x-api-key', 'authorization', 'if-none-match']))
    expect(answered['x-request-id']).toBeDefined()
  })

  test('that are not named get nothing', async () => {
    const others = ['https://evil.example.org', `${till}.evil.org`, 'http://till.example.org', 'null']
    for (const origin of others) {
      const { status, headers } = await at('one', festival.path, { token, headers: { Origin: origin } })
      expect([status, cors(headers)]).toEqual([200, []])
    }
  })
})

test('without the setting, or without an Origin, no such header is sent and OPTIONS is a 405', async () => {
  const [plain = ''] = tally.queries.map(({ address }) => address)
  const headers = { Origin: till, 'Access-Control-Request-Method': 'GET' }
  const answers = [
    await ask(plain, festival.path, { method: 'OPTIONS', headers }),
    await ask(plain, festival.path, { token, headers }),
    await at('one', festival.path, { method: 'OPTIONS' }),
    await at('all', festival.path, { token }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([405, 200, 405, 200])
  for (const { headers } of answers) expect(cors(headers)).toEqual([])
})
