import { runScenario } from '@tally/testkit/oracle/scenario'
import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { friday, newFestival, saturday, sunday } from '@tally/testkit/records/festival'
import { expect, test } from 'vitest'

const tally = useSharedTally()
const dayEndpoints = ['/analytics/orders/by-hour', '/analytics/orders/top-items', '/live/item-counts']

const day = (dayId: number, closedAt: string | null, date = '2026-09-04') => ({
  dayId,
  date,
  openedAt: '2026-09-04T16:00:00Z',
  closedAt,
})

test.concurrent('without any day, kpis are zero, other day answers empty, and unknown ids still 404', async () => {
  const festival = newFestival()
  const { token, data } = await runScenario(tally, festival, [festival.event({ days: [] }), festival.order()])
  const zero = { totalOrders: 0, totalSales: 0, currency: 'EUR', averageOrderValue: 0, totalItemsSold: 0 }
  expect(await data('/analytics/kpis')).toEqual(zero)
  for (const path of dayEndpoints) {
    const { status, body } = await tally.get(`${festival.path}${path}`, { token })
    expect({ path, status, dayId: body.meta.dayId, data: body.data }).toEqual({
      path,
      status: 200,
      dayId: null,
      data: [],
    })
  }
  expect(await data('/analytics/kpis?areaId=99')).toBe(404)
  expect(await data('/live/item-counts?menuItemIds=99')).toBe(404)
  expect(await data('/live/item-counts?menuItemIds=7')).toEqual([])
  expect(await data('/analytics/sales-trend')).toEqual([])
})

test.concurrent('the next version of the event closes the day and opens another', async () => {
  const festival = newFestival()
  const both = [day(friday, '2026-09-05T00:10:00Z'), day(saturday, '2026-09-06T00:00:00Z', '2026-09-05')]
  const { data } = await runScenario(
    tally,
    festival,
    [festival.event(), festival.order()],
    [festival.event({ version: 2, days: both })],
    [festival.event({ version: 3, days: [...both, day(sunday, null, '2026-09-06')] })],
  )
  expect(await data('')).toMatchObject({ isOpen: true, currentDay: { id: sunday, date: '2026-09-06' } })
  expect((await data('/analytics/kpis')).totalOrders).toBe(0)
})
