import { runScenario } from '@tally/testkit/oracle/scenario'
import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { burger, newFestival } from '@tally/testkit/records/festival'
import { expect, test } from 'vitest'

const tally = useSharedTally()
const orderId = 'A-1'

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
