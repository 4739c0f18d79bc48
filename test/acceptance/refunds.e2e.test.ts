import { runScenario } from '@tally/testkit/oracle/scenario'
import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { bar, burger, cake, newFestival, saturday, water } from '@tally/testkit/records/festival'
import { expect, test } from 'vitest'

const tally = useSharedTally()
const orderId = 'A-1'

const line = (menuItemId: number, quantity: number, amount: number) => ({ menuItemId, quantity, amount })

/** What the answers say of the usual order (2 burgers for 25.00, 1 water for 2.50) once the refunds are there. */
async function afterRefunds(...refunds: Record<string, unknown>[]) {
  const festival = newFestival()
  const first = [festival.event(), festival.order({ orderId })]
  const { data } = await runScenario(
    tally,
    festival,
    first,
    refunds.map(over => festival.refund({ orderId, ...over })),
  )
  const [kpis, counts, top, order] = await Promise.all(
    ['/analytics/kpis', '/live/item-counts', '/analytics/orders/top-items', `/orders/${orderId}`].map(data),
  )
  const burgers = top.find((row: { menuItemId: number }) => row.menuItemId === burger)
  return {
    sales: kpis.totalSales,
    items: kpis.totalItemsSold,
    counts: counts.length,
    burgers,
    effective: order.effectiveAmount,
  }
}

const cases: { rule: string; refunds: Record<string, unknown>[]; is: Record<string, unknown> }[] = [
  {
    rule: 'a refund with lines takes its items and its money back',
    refunds: [{}],
    is: {
      sales: 15,
      items: 2,
      effective: 15,
      burgers: { quantity: 1, revenue: 12.5, refundedQuantity: 1, refundedRevenue: 12.5 },
    },
  },
  {
    rule: 'a refund of money only touches no item',
    refunds: [
      { amount: 5, lines: [] },
      { amount: 1, lines: undefined },
      { amount: 1, lines: null },
    ],
    is: {
      sales: 20.5,
      items: 3,
      effective: 20.5,
      burgers: { quantity: 2, revenue: 25, refundedQuantity: 0 },
    },
  },
  {
    rule: 'a refund a millisecond before lines were tracked gives money back, and no items',
    refunds: [{ refundedAt: '2026-08-18T23:59:59.999Z' }],
    is: { sales: 15, items: 3, effective: 15, burgers: { quantity: 2, revenue: 25, refundedQuantity: 0 } },
  },
  {
    rule: 'a refund at the moment from which lines are tracked takes items back',
    refunds: [{ refundedAt: '2026-08-19T02:00:00+02:00' }],
    is: { sales: 15, items: 2, burgers: { quantity: 1, refundedQuantity: 1 } },
  },
  {
    rule: 'more refunded than ordered stops at what was ordered, and the item stays with 0',
    refunds: [
      { amount: 20, lines: [line(burger, 2, 20)] },
      { amount: 20, lines: [line(burger, 5, 20)] },
    ],
    is: {
      sales: 0,
      items: 1,
      counts: 2,
      effective: 0,
      burgers: { quantity: 0, revenue: 0, refundedQuantity: 2, refundedRevenue: 25 },
    },
  },
  {
    rule: 'quantity and money of an item stop each at its own bound',
    refunds: [
      { amount: 2, lines: [line(burger, 5, 2)] },
      { amount: 3, lines: [line(water, 1, 3)] },
    ],
    is: {
      sales: 22.5,
      items: 0,
      burgers: { quantity: 0, revenue: 23, refundedQuantity: 2, refundedRevenue: 2 },
    },
  },
  {
    rule: 'a refund line for an item that the order does not have counts for no item',
    refunds: [{ amount: 12.5, lines: [line(cake, 1, 12.5)] }],
    is: { sales: 15, items: 3, counts: 2, burgers: { quantity: 2, refundedQuantity: 0 } },
  },
  {
    rule: 'several refund lines of one item are added up',
    refunds: [{ amount: 12.5, lines: [line(burger, 1, 6.25), line(water, 1, 0), line(burger, 1, 6.25)] }],
    is: {
      sales: 15,
      items: 0,
      burgers: { quantity: 0, revenue: 12.5, refundedQuantity: 2, refundedRevenue: 12.5 },
    },
  },
  {
    rule: 'a fee that was kept: the lines take off the items, the amount is what was paid back',
    refunds: [{ amount: 10, lines: [line(burger, 1, 12.5)] }],
    is: {
      sales: 17.5,
      items: 2,
      effective: 17.5,
      burgers: { quantity: 1, revenue: 12.5, refundedQuantity: 1, refundedRevenue: 12.5 },
    },
  },
  {
    rule: 'goods that were taken back without money',
    refunds: [{ amount: 0, lines: [line(burger, 1, 0)] }],
    is: {
      sales: 27.5,
      items: 2,
      effective: 27.5,
      burgers: { quantity: 1, revenue: 25, refundedQuantity: 1 },
    },
  },
  {
    rule: 'a refund that failed and was taken back leaves no trace',
    refunds: [{ refundId: 'F' }, { refundId: 'F', version: 2, amount: 0, lines: [] }],
    is: {
      sales: 27.5,
      items: 3,
      effective: 27.5,
      burgers: { quantity: 2, revenue: 25, refundedQuantity: 0 },
    },
  },
  {
    rule: 'the highest version of a refund counts, whenever the others come; without one it is version 1',
    refunds: [
      { refundId: 'V', version: 3, amount: 2, lines: [] },
      { refundId: 'V', version: 2, amount: 0, lines: [] },
      { refundId: 'V', amount: 12.5 },
      { refundId: 'V', version: 3, amount: 2, lines: null },
    ],
    is: { sales: 25.5, items: 3, effective: 25.5, burgers: { quantity: 2, refundedQuantity: 0 } },
  },
  {
    rule: 'a version that names another order is not a version of it',
    refunds: [
      { refundId: 'C', version: 1, amount: 2, lines: [] },
      { refundId: 'C', version: 9, amount: 0, lines: [], orderId: 'another' },
    ],
    is: { sales: 25.5, effective: 25.5 },
  },
  {
    rule: 'a refund of nothing changes nothing',
    refunds: [{ amount: 0, lines: [] }],
    is: { sales: 27.5, items: 3, effective: 27.5 },
  },
]

test.concurrent.for(cases)('$rule', async ({ refunds, is }) => {
  expect(await afterRefunds(...refunds)).toMatchObject(is)
})

test.concurrent('a refund that comes before its order waits for it, and for the event', async () => {
  const festival = newFestival()
  const { data } = await runScenario(
    tally,
    festival,
    [festival.refund({ orderId })],
    [festival.event()],
    [festival.order({ orderId })],
  )
  expect((await data('/analytics/kpis')).totalSales).toBe(15)
})

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

test.concurrent('several lines of one item share one bound', async () => {
  const festival = newFestival()
  const items = [1, 2].map(quantity => ({
    menuItemId: burger,
    itemName: 'Burger',
    quantity,
    unitPrice: quantity,
  }))
  const order = festival.order({ orderId, items, totalAmount: 4 })
  const refund = festival.refund({ orderId, amount: 4, lines: [line(burger, 2, 4)] })
  const { data } = await runScenario(tally, festival, [festival.event(), order, refund])
  const row = { quantity: 1, revenue: 1, refundedQuantity: 2, refundedRevenue: 4 }
  expect((await data('/analytics/orders/top-items'))[0]).toMatchObject(row)
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
      festival.refund({ orderId, amount: 20, lines: [line(burger, 2, 20)] }),
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
