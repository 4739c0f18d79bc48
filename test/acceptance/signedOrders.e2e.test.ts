import { runScenario } from '@tally/testkit/oracle/scenario'
import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { burger, newFestival, water } from '@tally/testkit/records/festival'
import { readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { expect, test } from 'vitest'

const tally = useSharedTally()
const orderId = 'A-1'

/** The deposit of a cup is €2; at tills it is an item of its own. */
const deposit = 21
const cups = (quantity: number, unitPrice = 2) => ({
  menuItemId: deposit,
  itemName: 'Cup deposit',
  quantity,
  unitPrice,
  note: null,
})
const burgers = (quantity: number, unitPrice = 12.5) => ({
  menuItemId: burger,
  itemName: 'Burger',
  quantity,
  unitPrice,
  note: null,
})

const kpis = '/analytics/kpis'
const top = '/analytics/orders/top-items?limit=100'
const rowOf = (rows: { menuItemId: number }[], id: number) => rows.find(({ menuItemId }) => menuItemId === id)

test.concurrent.for([
  { form: 'a negative quantity', back: cups(-1), quantity: 1 },
  { form: 'a negative price', back: cups(1, -2), quantity: 3 },
])('a cup that comes back counts below zero, next to the food: $form', async ({ back, quantity }) => {
  const festival = newFestival()
  const { data } = await runScenario(
    tally,
    festival,
    [festival.event(), festival.order({ orderId, items: [burgers(1), cups(2)], totalAmount: 16.5 })],
    [festival.order({ items: [burgers(1), back], totalAmount: 10.5, amountPaid: 10.5 })],
  )
  expect(await data(kpis)).toMatchObject({ totalOrders: 2, totalSales: 27, totalItemsSold: 2 + quantity })
  const rows = await data(top)
  expect(rowOf(rows, deposit)).toMatchObject({ quantity, revenue: 2, refundedQuantity: 0 })
  expect(rowOf(rows, burger)).toMatchObject({ quantity: 2, revenue: 25 })
  const letters = (await readDeadLetters(tally)).filter(({ key }) => String(key) === festival.eventId)
  expect(letters).toEqual([])
})

test.concurrent('an evening that gives back more than it takes is below zero in every figure', async () => {
  const festival = newFestival()
  const returned = { items: [cups(-3)], totalAmount: -6, amountPaid: -6 }
  const { data } = await runScenario(
    tally,
    festival,
    [festival.event(), festival.order({ orderId, ...returned })],
    [
      festival.order({ items: [cups(1, -0.01)], totalAmount: -0.01 }),
      festival.order({ items: [], totalAmount: 0 }),
    ],
  )
  expect(await data(kpis)).toEqual({
    totalOrders: 3,
    totalSales: -6.01,
    currency: 'EUR',
    averageOrderValue: -2,
    totalItemsSold: -2,
  })
  expect(await data('/analytics/orders/by-hour')).toMatchObject([{ hour: 21, orderCount: 3, revenue: -6.01 }])
  expect(rowOf(await data(top), deposit)).toMatchObject({ quantity: -2, revenue: -6.01 })
  expect(await data(`/orders/${orderId}`)).toMatchObject({
    totalAmount: -6,
    amountPaid: -6,
    effectiveAmount: -6,
    items: [{ quantity: -3, unitPrice: 2 }],
  })
})

test.concurrent('the average is rounded away from zero', async () => {
  const festival = newFestival()
  const order = (totalAmount: number) => festival.order({ items: [], totalAmount })
  const { data } = await runScenario(tally, festival, [festival.event(), order(-0.01), order(-0.04)])
  expect((await data(kpis)).averageOrderValue).toBe(-0.03)
})

test.concurrent('refunds take back what was sold, and nothing of what was given back', async () => {
  const festival = newFestival()
  const lines = [
    { menuItemId: deposit, quantity: 1, amount: 2 },
    { menuItemId: burger, quantity: 1, amount: 12.5 },
  ]
  const { data } = await runScenario(
    tally,
    festival,
    [
      festival.event(),
      festival.order({ orderId, items: [burgers(2), cups(-3)], totalAmount: 19 }),
      festival.order({ orderId: 'B', items: [cups(-1)], totalAmount: -2 }),
    ],
    [festival.refund({ orderId, amount: 14.5, lines }), festival.refund({ orderId: 'B', amount: 2, lines })],
  )
  expect(await data(kpis)).toMatchObject({ totalSales: 4.5 - 2, totalItemsSold: 1 - 3 - 1 })
  const rows = await data(top)
  expect(rowOf(rows, deposit)).toMatchObject({
    quantity: -4,
    revenue: -8,
    refundedQuantity: 0,
    refundedRevenue: 0,
  })
  expect(rowOf(rows, burger)).toMatchObject({ quantity: 1, refundedQuantity: 1, refundedRevenue: 12.5 })
  expect(await data('/orders/B')).toMatchObject({ effectiveAmount: -2 })
})

test.concurrent('each bound of an item holds for itself: more portions than none, money below zero', async () => {
  const festival = newFestival()
  const items = [burgers(2, 1), burgers(1, -5)]
  const lines = [{ menuItemId: burger, quantity: 9, amount: 3 }]
  const { data } = await runScenario(tally, festival, [
    festival.event(),
    festival.order({ orderId, items, totalAmount: -3 }),
    festival.refund({ orderId, amount: 3, lines }),
  ])
  expect(rowOf(await data(top), burger)).toMatchObject({
    quantity: 0,
    revenue: -3,
    refundedQuantity: 3,
    refundedRevenue: 0,
  })
})

test.concurrent('later versions move what was given back, and a cancelled one takes it out', async () => {
  const festival = newFestival()
  const order = (version: number, fields: object) => festival.order({ orderId, version, ...fields })
  const { data } = await runScenario(
    tally,
    festival,
    [festival.event(), order(1, { items: [cups(-1)], totalAmount: -2 })],
    [order(2, { items: [burgers(1), cups(-1)], totalAmount: 10.5, areaId: 2 })],
    [order(3, { items: [cups(-2)], totalAmount: -4, dayId: 41 })],
    [order(4, { items: [cups(-2)], totalAmount: -4, status: 'Cancelled' })],
  )
  expect(await data(kpis)).toMatchObject({ totalOrders: 0, totalSales: 0, totalItemsSold: 0 })
})

test.concurrent('best sellers are sorted with what came back last, and counts answer it by id', async () => {
  const festival = newFestival()
  const { data } = await runScenario(tally, festival, [
    festival.event(),
    festival.order({ items: [burgers(1), cups(-2)], totalAmount: 8.5 }),
  ])
  expect((await data(top)).map(({ menuItemId }: { menuItemId: number }) => menuItemId)).toEqual([
    burger,
    deposit,
  ])
  expect(await data('/live/item-counts')).toMatchObject([
    { menuItemId: burger, quantitySold: 1 },
    { menuItemId: deposit, quantitySold: -2, quantityRefunded: 0 },
  ])
  expect(await data(`/live/item-counts?menuItemIds=${water}`)).toMatchObject([{ quantitySold: 0 }])
})

test.concurrent('the largest amounts below zero are exact', async () => {
  const festival = newFestival()
  const most = {
    items: [burgers(-1, 99_999_999.99)],
    totalAmount: -99_999_999.99,
    amountPaid: -99_999_999.99,
  }
  const { data } = await runScenario(tally, festival, [
    festival.event(),
    ...Array.from({ length: 3 }, () => festival.order(most)),
    festival.order({ items: [burgers(-100_000, 0.01)], totalAmount: -1000 }),
  ])
  expect(await data(kpis)).toMatchObject({ totalSales: -300_000_999.97, totalItemsSold: -100_003 })
})
