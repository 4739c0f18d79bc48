import { runScenario } from '@tally/testkit/oracle/scenario'
import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { bar, burger, friday, newFestival, saturday } from '@tally/testkit/records/festival'
import { expect, test } from 'vitest'

const tally = useSharedTally()
const orderId = 'A-1'
const hoursOf = (buckets: { hour: number }[]) => buckets.map(({ hour }) => hour)

test.concurrent('an order that is cancelled leaves the figures, and comes back when it is paid again', async () => {
  const festival = newFestival()
  const order = (version: number, status: string) => festival.order({ orderId, version, status })
  const first = [festival.event(), festival.order(), order(1, 'Paid'), festival.refund({ orderId })]
  const waves = [[order(2, 'Cancelled')], [order(3, 'Pending')], [order(4, 'Completed')]]
  const { data } = await runScenario(tally, festival, first, ...waves)
  expect((await data('/analytics/kpis')).totalSales).toBe(42.5)
})

test.concurrent('a later version moves an order to another day, area and hour, and leaves nothing behind', async () => {
  const festival = newFestival()
  const moved = { orderId, version: 2, dayId: friday, areaId: bar, orderDateTime: '2026-09-04T08:00:00Z' }
  const { data } = await runScenario(
    tally,
    festival,
    [festival.event(), festival.order({ orderId })],
    [festival.order(moved)],
  )
  expect(await data('/analytics/orders/by-hour')).toEqual([])
  expect(await data('/live/item-counts')).toEqual([])
  expect(hoursOf(await data(`/analytics/orders/by-hour?dayId=${friday}&areaId=${bar}`))).toEqual([10])
})

test.concurrent('orders that come before their event, day, area and menu item show as soon as those are known', async () => {
  const festival = newFestival()
  const first = [
    festival.order(),
    festival.order({ dayId: 77, areaId: 5 }),
    festival.refund({ orderId: 'nobody' }),
  ]
  const late = { dayId: 77, date: '2026-09-07', openedAt: '2026-09-07T10:00:00Z', closedAt: null }
  const { token, data } = await runScenario(
    tally,
    festival,
    first,
    [festival.event({ areas: [], days: [], menuItems: [] })],
    [festival.event({ version: 2, areas: [{ areaId: 5, name: 'Tent' }], days: [late], menuItems: [] })],
  )
  expect((await data('/analytics/kpis?areaId=5')).totalOrders).toBe(1)
  const { body } = await tally.get(`${festival.path}/live/item-counts`, { token })
  expect(body.data[0]).toMatchObject({ menuItemId: burger, itemName: `Item ${burger}` })
})

test.concurrent('an event that is not known yet is a 404, whatever was sold there', async () => {
  const festival = newFestival()
  const { data } = await runScenario(tally, festival, [festival.order({ orderId })])
  for (const path of ['', '/orders', `/orders/${orderId}`, '/live/item-counts'])
    expect(await data(path)).toBe(404)
})

test.concurrent('an order of a day or an area that the event does not list is counted under its own ids', async () => {
  const festival = newFestival()
  const orders = [festival.order({ areaId: 99 }), festival.order({ dayId: 99 })]
  const { data } = await runScenario(tally, festival, [festival.event(), ...orders])
  expect((await data('/analytics/kpis')).totalOrders).toBe(1)
  expect(await data('/analytics/kpis?areaId=99')).toBe(404)
  expect(await data('/orders')).toHaveLength(2)
})

test.concurrent('a renamed menu item is renamed in the figures, not in the orders', async () => {
  const festival = newFestival()
  const menuItems = [{ menuItemId: burger, name: 'Panino', categoryName: 'Bread' }]
  const { data } = await runScenario(
    tally,
    festival,
    [festival.event(), festival.order({ orderId })],
    [festival.event({ version: 2, menuItems })],
  )
  const row = { itemName: 'Panino', categoryName: 'Bread' }
  expect((await data('/analytics/orders/top-items'))[0]).toMatchObject(row)
  expect((await data(`/orders/${orderId}`)).items[0].itemName).toBe('Burger')
})

test.concurrent.for([
  {
    zone: 'Europe/Rome',
    at: ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'],
    hours: [2],
    why: 'the hour that comes twice is one',
  },
  {
    zone: 'Europe/Rome',
    at: ['2026-03-29T00:59:59Z', '2026-03-29T01:00:00Z'],
    hours: [1, 3],
    why: 'the hour that is left out has no bucket',
  },
  {
    zone: 'Asia/Kolkata',
    at: ['2026-09-05T18:29:00Z', '2026-09-05T18:30:00Z'],
    hours: [0, 23],
    why: 'half an hour counts',
  },
  {
    zone: 'Australia/Lord_Howe',
    at: ['2026-04-04T14:59:00Z', '2026-04-04T15:10:00Z'],
    hours: [1],
    why: 'a change of half an hour',
  },
  { zone: 'America/St_Johns', at: ['2026-09-05T19:31:07Z'], hours: [17], why: 'half an hour to the west' },
  { zone: 'Asia/Calcutta', at: ['2026-09-05T18:30:00Z'], hours: [0], why: 'an alias is a name too' },
  { zone: null, at: ['2026-09-05T19:31:07Z'], hours: [19], why: 'no zone is UTC' },
  {
    zone: 'Europe/London',
    at: ['1971-01-01T00:30:00Z'],
    hours: [1],
    why: 'London was an hour ahead in the winter of 1970',
  },
  {
    zone: 'America/Winnipeg',
    at: ['2026-11-15T18:30:00Z'],
    hours: [13],
    why: 'the law is newer than the data of Node 24.21',
  },
])('hours are those of $zone: $why', async ({ zone, at, hours }) => {
  const festival = newFestival()
  const orders = at.map(orderDateTime => festival.order({ orderDateTime }))
  const { data } = await runScenario(tally, festival, [festival.event({ timeZone: zone }), ...orders])
  expect(hoursOf(await data(`/analytics/orders/by-hour?dayId=${saturday}`))).toEqual(hours)
})

test.concurrent('a changed time zone moves the orders that were counted before', async () => {
  const festival = newFestival()
  const orders = [
    festival.order(),
    festival.order({ areaId: bar }),
    festival.order({ orderDateTime: '2026-09-05T10:10:00Z' }),
  ]
  const zone = (version: number, timeZone: string) => [festival.event({ version, timeZone })]
  const { data } = await runScenario(
    tally,
    festival,
    [festival.event(), ...orders],
    zone(2, 'Asia/Kathmandu'),
    zone(3, 'UTC'),
  )
  expect(hoursOf(await data('/analytics/orders/by-hour'))).toEqual([10, 19])
})
