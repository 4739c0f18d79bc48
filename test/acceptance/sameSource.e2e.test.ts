import { ask } from '@tally/testkit/processes/http'
import { useTally } from '@tally/testkit/processes/tally'
import { burger, friday, newFestival, water } from '@tally/testkit/records/festival'
import { beforeAll, expect, test } from 'vitest'

const tally = useTally()
const festival = newFestival()
let token: string
/** A query process that has no Redis. */
let cold: string

const oddIds = [
  '%',
  '%25',
  '%2F',
  'a?b',
  '#',
  '"',
  '\\',
  "'",
  '+',
  '&=;,:@$!*()',
  '{}',
  '<x>',
  '^`|~',
  '...',
  'x'.repeat(64),
]

beforeAll(async () => {
  await tally.count([
    festival.organization(),
    festival.event(),
    ...oddIds.map(orderId => festival.order({ orderId })),
  ])
  token = await tally.key(festival.organizationId)
  cold = (await tally.startQuery({ REDIS_URL: 'redis://127.0.0.1:1' })).address
})

test.for([
  '',
  '/analytics/kpis',
  `/analytics/kpis?dayId=${friday}`,
  '/analytics/kpis?areaId=2',
  '/analytics/sales-trend',
  '/analytics/orders/by-hour',
  `/analytics/orders/by-hour?dayId=${friday}`,
  '/analytics/orders/top-items',
  '/live/item-counts',
  `/live/item-counts?menuItemIds=${water},${burger}`,
  '/orders',
  '/orders?page=9',
])('Redis and Postgres say the same, to the byte and with the same tag: %s', async path => {
  const hot = await tally.get(festival.path + path, { token })
  const answer = await ask(cold, festival.path + path, { token })

  expect(answer.status).toBe(200)
  expect(answer.headers.etag).toBe(hot.headers.etag)
  expect(JSON.stringify(answer.body.data)).toBe(JSON.stringify(hot.body.data))
})

test.for(oddIds)('an order is found by any id that it can have: %s', async id => {
  const everyByte = [...Buffer.from(id)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('')
  for (const escaped of [encodeURIComponent(id), everyByte]) {
    const { status, body } = await tally.get(`${festival.path}/orders/${escaped}`, { token })
    expect([status, body.data?.id]).toEqual([200, id])
  }
})
