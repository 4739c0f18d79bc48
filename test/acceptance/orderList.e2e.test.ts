import { oracle } from '@tally/testkit/oracle/oracle'
import { runScenario, type Scenario } from '@tally/testkit/oracle/scenario'
import { queryOf } from '@tally/testkit/oracle/words'
import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { bar, friday, kitchen, newFestival, saturday } from '@tally/testkit/records/festival'
import { beforeAll, expect, test } from 'vitest'

const tally = useSharedTally()
const festival = newFestival()
const statuses = ['PreOrder', 'Pending', 'Paid', 'Preparing', 'ReadyForPickup', 'Completed', 'Cancelled']
const names = ['a', 'B', 'Z', '_', '~', '!', '10', '9', 'a1', 'A', 'aa', '-', 'a-b', 'a.b', 'ab']
const orders = Array.from({ length: 230 }, (_, index) =>
  festival.order({
    orderId: index < names.length ? names[index] : `n-${index}`,
    status: statuses[index % 7],
    areaId: index % 3 === 0 ? bar : kitchen,
    dayId: index % 5 === 0 ? friday : saturday,
    // Groups of orders at the same moment, written in different zones, and some that differ by a millisecond.
    orderDateTime: `2026-09-05T2${index % 2}:${String(Math.floor(index / 40)).padStart(2, '0')}:00${index % 10 === 0 ? '.001' : ''}${index % 2 ? '+01:00' : 'Z'}`,
    tableNumber: ['', null, undefined, '7'][index % 4],
    items: [
      { menuItemId: 7, itemName: 'Burger', quantity: 1, unitPrice: 1, note: ['', null, 'hot'][index % 3] },
      { menuItemId: 7, itemName: 'Again', quantity: 2, unitPrice: 3 },
    ],
  }),
)
const records = [festival.event(), ...orders, festival.refund({ orderId: 'a' })]
const expected = oracle(records).event(festival.eventId)
let scenario: Scenario

beforeAll(async () => {
  scenario = await runScenario(tally, festival, records)
})

const filters = [
  {},
  { dayId: friday },
  { areaId: bar },
  { dayId: saturday, areaId: kitchen },
  { status: 'Cancelled' },
  { status: 'Paid', dayId: friday },
  { status: 'Pending', areaId: bar },
  { status: 'Completed', dayId: saturday, areaId: kitchen },
]

test.for(filters)('all pages together are the whole list, once each: %o', async filter => {
  const all = expected.orders(filter)
  expect(all.length).toBeGreaterThan(3)
  for (const pageSize of [7, 100]) {
    const totalPages = Math.ceil(all.length / pageSize)
    const seen = []
    for (let page = 1; page <= totalPages + 1; page++) {
      const { body } = await tally.get(
        `${festival.path}/orders${queryOf({ ...filter, page, pageSize })}`,
        scenario,
      )
      expect(body.meta.pagination).toEqual({ page, pageSize, totalCount: all.length, totalPages })
      seen.push(...body.data)
    }
    expect(seen).toEqual(all)
  }
})

test('a page deep in a long list is its part of it, also after orders have moved, changed and been cancelled', async () => {
  const long = newFestival()
  const at = (i: number) => new Date(Date.parse('2026-09-05T16:00:00Z') + i * 5_000).toISOString()
  const first = Array.from({ length: 2_400 }, (_, i) =>
    long.order({ orderId: `n-${i}`, orderDateTime: at(i), areaId: i % 3 === 0 ? bar : kitchen }),
  )
  const then = Array.from({ length: 400 }, (_, i) =>
    long.order({
      orderId: `n-${i * 5}`,
      version: 2,
      status: i % 2 === 0 ? 'Cancelled' : 'Completed',
      areaId: i % 4 === 0 ? bar : kitchen,
      dayId: i % 8 === 1 ? friday : saturday,
      orderDateTime: at(i % 3 === 0 ? i : i * 5),
    }),
  )
  const refunds = Array.from({ length: 50 }, (_, i) => long.refund({ orderId: `n-${i * 31}` }))
  const records = [long.event(), ...first, ...refunds, ...then]
  const { token } = await runScenario(tally, long, records)
  const all = oracle([long.organization(), ...records]).event(long.eventId)
  for (const filter of [{}, { dayId: saturday }, { areaId: kitchen }, { status: 'Completed' }]) {
    const expected = all.orders(filter)
    for (const pageSize of [20, 99]) {
      const totalPages = Math.ceil(expected.length / pageSize)
      for (const page of [1, 11, Math.ceil(1_000 / pageSize), 51, 52, 83, totalPages, totalPages + 1]) {
        const { body } = await tally.get(`${long.path}/orders${queryOf({ ...filter, page, pageSize })}`, {
          token,
        })
        expect(body.data).toEqual(expected.slice((page - 1) * pageSize, page * pageSize))
        expect(body.meta.pagination).toEqual({ page, pageSize, totalCount: expected.length, totalPages })
      }
    }
  }
})

test('without parameters it is the first 20, without the cancelled ones', async () => {
  const { body } = await tally.get(`${festival.path}/orders`, scenario)
  expect(body.data).toEqual(expected.orders({}).slice(0, 20))
  expect(body.meta.pagination).toMatchObject({
    page: 1,
    pageSize: 20,
    totalCount: expected.orders({}).length,
  })
  expect(body.meta).not.toHaveProperty('dayId')
})

test('a page far beyond the last is empty, with true totals; no orders at all are 0 pages', async () => {
  const { status, body } = await tally.get(`${festival.path}/orders?page=1000000&pageSize=100`, scenario)
  const totalCount = expected.orders({}).length
  expect([status, body.data, body.meta.pagination]).toEqual([
    200,
    [],
    { page: 1_000_000, pageSize: 100, totalCount, totalPages: 2 },
  ])
  const empty = newFestival()
  const { token } = await runScenario(tally, empty, [empty.event()])
  const none = await tally.get(`${empty.path}/orders`, { token })
  expect(none.body.meta.pagination).toEqual({ page: 1, pageSize: 20, totalCount: 0, totalPages: 0 })
})

test('a single order equals its entry in the list: an empty table number or note is not null', async () => {
  for (const order of expected.allOrders().slice(0, 40))
    expect(await scenario.data(`/orders/${encodeURIComponent(order.id)}`)).toEqual(order)
  const [first, second] = [await scenario.data(`/orders/a`), await scenario.data('/orders/B')]
  expect([first.tableNumber, first.items[0].note, second.tableNumber, second.items[0].note]).toEqual([
    '',
    '',
    null,
    null,
  ])
})

test('order ids are compared byte by byte, and never by displayOrderNumber', async () => {
  expect(await scenario.data('/orders/b')).toBe(404)
  expect(await scenario.data('/orders/123')).toBe(404)
  expect(await scenario.data('/orders/%61')).toMatchObject({ id: 'a' })
})
