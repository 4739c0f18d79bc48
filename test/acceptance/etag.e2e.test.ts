import { useTally } from '@tally/testkit/processes/tally'
import { eventPaths } from '@tally/testkit/records/eventPaths'
import { bar, kitchen, newFestival } from '@tally/testkit/records/festival'
import { beforeAll, expect, test } from 'vitest'

const tally = useTally({ queries: 2, settings: { RATE_LIMITS: 'ActiveDayPass=1000000' } })
const festival = newFestival()
const { path: base } = festival
const paths = ['/api/v1/events', ...eventPaths.map(path => base + path), `${base}/orders/one`]
let token: string

beforeAll(async () => {
  await tally.count([festival.organization(), festival.event(), festival.order({ orderId: 'one' })])
  token = await tally.key(festival.organizationId)
})

const tagOf = async (path: string, query = 0) =>
  String((await tally.get(path, { token, query })).headers.etag)
const withTag = (path: string, tag: string) => tally.get(path, { token, headers: { 'If-None-Match': tag } })

test.for(paths)(
  '%s has a weak tag, the same from every process, and answers 304 to it with the same headers',
  async path => {
    const { headers } = await tally.get(path, { token })
    expect(headers.etag).toMatch(/^W\/"[\x21\x23-\x7e]+"$/)
    expect(headers['cache-control']).toBe('private, no-cache')
    expect(await tagOf(path, 1)).toBe(headers.etag)
    const same = await withTag(path, String(headers.etag))
    expect({ status: same.status, text: same.text }).toEqual({ status: 304, text: '' })
    expect(same.headers).toMatchObject({
      etag: headers.etag,
      'cache-control': 'private, no-cache',
      'x-request-id': expect.any(String),
      'x-ratelimit-limit': '1000000',
    })
    expect(same.headers['content-type']).toBeUndefined()
    expect(same.headers['tally-as-of'] !== undefined).toBe(path !== '/api/v1/events')
  },
)

test('even * does not match what is not there', async () => {
  expect((await withTag(newFestival().path, '*')).status).toBe(404)
})

test('an ETag stays while the data stays, although asOf advances and another area sells', async () => {
  const path = `${base}/analytics/kpis?areaId=${kitchen}`
  const before = await tally.get(path, { token })
  await tally.count([festival.order({ areaId: bar })])
  const after = await tally.get(path, { token })
  expect(after.body.meta.asOf > before.body.meta.asOf).toBe(true)
  expect(after.headers.etag).toBe(before.headers.etag)
})

test('an ETag changes with the data', async () => {
  const before = await Promise.all(paths.map(path => tagOf(path)))
  await tally.count([
    festival.order({
      orderId: 'one',
      version: 2,
      totalAmount: 1,
      orderDateTime: '2026-09-05T10:00:00Z',
      items: [],
    }),
    festival.event({ version: 2, name: 'Other' }),
  ])
  const after = await Promise.all(paths.map(path => tagOf(path)))
  expect(paths.filter((_, index) => before[index] === after[index])).toEqual([])
  expect((await withTag(base, before[1] ?? '')).status).toBe(200)
})

test('the same data under another day, page or event has another tag', async () => {
  const other = newFestival({ organizationId: festival.organizationId })
  await tally.count([other.event({ days: [] }), other.order()])
  const same = [
    `${base}/live/item-counts?dayId=41`,
    `${other.path}/live/item-counts`,
    `${base}/orders?page=9`,
    `${base}/orders?page=8`,
    `${base}/orders?page=8&pageSize=7`,
  ]
  const tags = await Promise.all(same.map(path => tagOf(path)))
  expect(new Set(tags).size).toBe(same.length)
})
