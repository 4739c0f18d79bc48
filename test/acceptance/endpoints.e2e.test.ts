import { endpoints } from '@tally/contract'
import { oracle } from '@tally/testkit/oracle/oracle'
import { runScenario, type Scenario } from '@tally/testkit/oracle/scenario'
import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import {
  bar,
  burger,
  cake,
  friday,
  kitchen,
  newFestival,
  saturday,
  water,
} from '@tally/testkit/records/festival'
import { beforeAll, expect, test } from 'vitest'

const tally = useSharedTally()
const festival = newFestival()
const second = newFestival({ organizationId: festival.organizationId })
const spritz = { menuItemId: water, itemName: 'Acqua', quantity: 3, unitPrice: 2.5 }
const records = [
  festival.event(),
  festival.order({ orderId: 'one' }),
  festival.order({ orderId: 'two', areaId: bar, items: [spritz], totalAmount: 7.5, status: 'Completed' }),
  festival.order({ orderId: 'three', dayId: friday, orderDateTime: '2026-09-04T18:05:00+02:00' }),
  festival.order({ orderId: 'four', status: 'Pending' }),
  festival.order({ orderId: 'five', status: 'Cancelled' }),
  festival.refund({ orderId: 'one' }),
]
let scenario: Scenario

beforeAll(async () => {
  scenario = await runScenario(tally, festival, records, [
    second.event({ name: 'Birra', startDate: '2026-10-01T10:00:00.250Z', days: [] }),
  ])
})

test('the list of events has the whole envelope, newest event first', async () => {
  const { status, body } = await tally.get('/api/v1/events', { token: scenario.token })
  expect(status).toBe(200)
  const expected = oracle([
    ...records,
    second.event({ name: 'Birra', startDate: '2026-10-01T10:00:00.250Z', days: [] }),
  ])
  expect(body).toEqual({
    data: expected.listEvents(festival.organizationId),
    meta: { generatedAt: expect.any(String), eventId: '00000000-0000-0000-0000-000000000000' },
  })
  expect(endpoints.listEvents.answer.parse(body)).toEqual(body)
  expect(body.data[0]).toEqual({
    id: second.eventId,
    name: 'Birra',
    startDate: '2026-10-01T10:00:00.250Z',
    isOpen: false,
    currentDay: null,
  })
})

test('event ids are taken in any case and answered in lower case', async () => {
  const { body } = await tally.get(festival.path.toUpperCase().replace('/API/V1/EVENTS', '/api/v1/events'), {
    token: scenario.token,
  })
  expect(body.data.id).toBe(festival.eventId)
  expect(body.meta.eventId).toBe(festival.eventId)
})

test('kpis count the open day, over all areas or one', async () => {
  const all = {
    totalOrders: 2,
    totalSales: 22.5,
    currency: 'EUR',
    averageOrderValue: 11.25,
    totalItemsSold: 5,
  }
  expect(await scenario.data('/analytics/kpis')).toEqual(all)
  const inKitchen = { ...all, totalOrders: 1, totalSales: 15, averageOrderValue: 15, totalItemsSold: 2 }
  expect(await scenario.data(`/analytics/kpis?dayId=${saturday}&areaId=${kitchen}`)).toEqual(inKitchen)
})

test('orders by hour speak of the hour at the festival', async () => {
  const hours = await scenario.data('/analytics/orders/by-hour')
  expect(hours).toEqual([{ hour: 21, orderCount: 2, revenue: 22.5, currency: 'EUR' }])
})

test('the sales trend has one point for each date of the festival', async () => {
  expect(await scenario.data('/analytics/sales-trend')).toEqual([
    { date: '2026-09-04', totalSales: 27.5, orderCount: 1, currency: 'EUR' },
    { date: '2026-09-05', totalSales: 22.5, orderCount: 2, currency: 'EUR' },
  ])
})

test('top items are as many as asked for, the most sold first', async () => {
  const [first, ...rest] = await scenario.data('/analytics/orders/top-items?limit=1')
  expect(rest).toEqual([])
  expect(first).toEqual({
    menuItemId: water,
    itemName: 'Acqua',
    categoryName: 'Drinks',
    quantity: 4,
    revenue: 10,
    refundedQuantity: 0,
    refundedRevenue: 0,
    currency: 'EUR',
  })
})

test('item counts have one row for every id asked for, and ignore areaId', async () => {
  const nothing = { menuItemId: cake, itemName: 'Cake', quantitySold: 0, quantityRefunded: 0 }
  const burgers = { menuItemId: burger, itemName: 'Burger', quantitySold: 1, quantityRefunded: 1 }
  expect(await scenario.data(`/live/item-counts?menuItemIds=${cake},${burger},${cake}&areaId=999`)).toEqual([
    burgers,
    nothing,
  ])
})
