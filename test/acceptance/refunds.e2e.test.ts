import { runScenario } from '@tally/testkit/oracle/scenario'
import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { bar, burger, newFestival, saturday } from '@tally/testkit/records/festival'
import { expect, test } from 'vitest'

const tally = useSharedTally()
const orderId = 'A-1'

test.concurrent('a refund is taken back before its order arrives, and says something else later', async () => {
  const festival = newFestival()
  const refund = (version: number | undefined, fields: object) =>
    festival.refund({ orderId, refundId: 'F', version, ...fields })
  const { data } = await runScenario(
    tally,
    festival,
    [festival.event(), refund(2, { amount: 0, lines: [] })],
    [refund(undefined, {}), refund(1, {})],
    [festival.order({ orderId })],
    [refund(3, { amount: 1, lines: [] }), refund(2, { amount: 0 })],
    [refund(4, { amount: 0, lines: [] })],
  )
  expect(await data('/analytics/kpis')).toMatchObject({ totalSales: 27.5, totalItemsSold: 3 })
})

test.concurrent('each version of the order bounds its refunds again, and they move with it', async () => {
  const festival = newFestival()
  const one = [{ menuItemId: burger, itemName: 'Burger', quantity: 1, unitPrice: 3 }]
  const { data } = await runScenario(
    tally,
    festival,
    [
      festival.event(),
      festival.order({ orderId }),
      festival.refund({ orderId, amount: 20, lines: [{ menuItemId: burger, quantity: 2, amount: 20 }] }),
    ],
    [festival.order({ orderId, version: 2, items: one, totalAmount: 3 })],
    [festival.order({ orderId, version: 3, areaId: bar, dayId: 41 })],
    [festival.order({ orderId, version: 4, areaId: bar, items: [...one, ...one, ...one], totalAmount: 30 })],
  )
  expect((await data(`/analytics/orders/top-items?dayId=${saturday}&areaId=${bar}`))[0]).toMatchObject({
    quantity: 1,
    refundedRevenue: 9,
  })
})

test.concurrent('effectiveAmount is answered for every status, counted for the confirmed ones only', async () => {
  const festival = newFestival()
  const statuses = ['PreOrder', 'Pending', 'Paid', 'Preparing', 'ReadyForPickup', 'Completed', 'Cancelled']
  const orders = statuses.flatMap(status => [
    festival.order({ orderId: status, status }),
    festival.refund({ orderId: status }),
  ])
  const { data } = await runScenario(tally, festival, [festival.event(), ...orders])
  const effective = await Promise.all(
    statuses.map(async status => (await data(`/orders/${status}`)).effectiveAmount),
  )
  expect(effective).toEqual(statuses.map(() => 15))
  expect((await data('/analytics/kpis')).totalOrders).toBe(4)
})
