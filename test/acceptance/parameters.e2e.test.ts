import { endpoints } from '@tally/contract'
import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { newFestival } from '@tally/testkit/records/festival'
import { beforeAll, expect, test } from 'vitest'

const tally = useSharedTally()
const festival = newFestival()
let token: string

beforeAll(async () => {
  await tally.count([
    festival.organization(),
    festival.event({
      days: [{ dayId: 2_147_483_647, date: '2026-09-04', openedAt: '2026-09-04T16:00:00Z' }],
    }),
  ])
  token = await tally.key(festival.organizationId)
})

const kpis = '/analytics/kpis'
/** The parameters of each endpoint of an event. */
const parameters = Object.values(endpoints).flatMap(({ url, query }) =>
  Object.keys(query.shape).map(name => [url.replace('/api/v1/events/:eventId', ''), name] as const),
)

/** What each takes: packages/contract/http/parameters.unit.test.ts. */
test.for(parameters)(
  '%s: %s is given once and in plain characters, or a 400 names it',
  async ([path, name]) => {
    const wrong = [
      ...['', '0', '042', '%2B42', '%204', '4%20', encodeURIComponent('٤')].map(value => `${name}=${value}`),
      `${name}=1&${name}=1`,
      name,
      `${name}=1&${name}=`,
      `%${name.charCodeAt(0).toString(16)}${name.slice(1)}=x`,
    ]
    for (const query of wrong) await expectWrong(`${path}?${query}`, [name])
  },
)

test('all wrong parameters are named at once, the path’s too', async () => {
  await expectWrong('/orders?page=0&pageSize=101&status=x&areaId=1', ['page', 'pageSize', 'status'])
  const { status, body } = await tally.get('/api/v1/events/no-uuid/orders?page=x', { token })
  expect(status).toBe(400)
  expect(names(body)).toEqual(['eventId', 'page'])
})

test.for([
  `${kpis}?dayId=2147483647`,
  `${kpis}?unknown=1&unknown=2&x`,
  `${kpis}?DAYID=x&dayid=y`,
  `${kpis}?`,
  `${kpis}?&&`,
  '/analytics/sales-trend?dayId=x',
  '/orders?pageSize=100&page=1000000',
  '/orders?status=%50aid',
  '/live/item-counts?areaId=x',
  `/live/item-counts?menuItemIds=${Array(200).fill(7).join()},9`,
  '/live/item-counts?menuItemIds=7%2C9',
  '/live/item-counts?menuItemIds=7&__proto__=1&constructor=2',
])('%s is good', async path => {
  expect((await tally.get(`${festival.path}${path}`, { token })).status).toBe(200)
})

test.for([
  ['limit=1&secret=tally_abc', 'limit, secret'],
  ['PAGESIZE=9', 'PAGESIZE'],
  ['a%0d%0aSet-Cookie:x=1', 'a%0D%0ASet-Cookie%3Ax'],
] as const)(
  'unknown parameters change nothing: %s is ignored, and said to be, again and again',
  async ([query, named]) => {
    const known = await tally.get(`${festival.path}/orders?pageSize=5`, { token })
    const etag = String(known.headers.etag)
    expect(known.headers['tally-ignored']).toBeUndefined()
    for (const status of [200, 200, 304]) {
      const headers = status === 304 ? { 'If-None-Match': etag } : {}
      const reply = await tally.get(`${festival.path}/orders?pageSize=5&${query}`, { token, headers })
      expect([reply.status, reply.headers.etag, reply.headers['tally-ignored']]).toEqual([
        status,
        etag,
        named,
      ])
      if (status === 200) expect(reply.body.data).toEqual(known.body.data)
    }
  },
)

test.for([
  ['/api/v1/events/%', 'path'],
  ['/api/v1/events/%zz/orders', 'path'],
  ['/api/v1/events/%c3%28', 'path'],
  ['/nowhere/%ed%a0%80', 'path'],
  ['/%', 'path'],
  ['/docs/%ff', 'path'],
  ['/api/v1/events?name=%', 'name'],
  ['/api/v1/events?x=1&n%61me=%c0%80', 'name'],
  ['/nowhere?a=%fe', 'a'],
  ['/api/v1/events?%ff=1', '%ff'],
  ['/api/v1/openapi.json?a=%', 'a'],
] as const)('%s: an escape that is broken or not UTF-8 is a 400 that names %s', async ([path, name]) => {
  const { status, body, headers } = await tally.get(path)
  expect({ status, names: names(body), instance: body.instance }).toEqual({
    status: 400,
    names: [name],
    instance: path.split('?')[0],
  })
  expect(headers['x-request-id']).toBe(body.requestId)
})

async function expectWrong(path: string, wanted: string[]): Promise<void> {
  const { status, body } = await tally.get(`${festival.path}${path}`, { token })
  expect({ path, status, names: names(body) }).toEqual({ path, status: 400, names: wanted })
  for (const { message } of body.errors) expect(message).toMatch(/\w{3}/)
}

const names = (body: { errors?: { parameter: string }[] }) =>
  body.errors?.map(({ parameter }) => parameter).toSorted()
