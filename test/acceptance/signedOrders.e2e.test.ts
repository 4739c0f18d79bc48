import { runScenario } from '@tally/testkit/oracle/scenario'
import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { burger, newFestival } from '@tally/testkit/records/festival'
import { expect, test } from 'vitest'

const tally = useSharedTally()
const orderId = 'A-1'

const line = { menuItemId: burger, itemName: 'Burger', note: null }
/** The deposit of a cup is €2; at tills it is an item of its own. */
const cups = { ...line, menuItemId: 21, itemName: 'Cup deposit' }
const kpis = '/analytics/kpis'

test.concurrent('an evening that gives back more than it takes is below zero in every figure', async () => {
  const festival = newFestival()
  const returned = { items: [{ ...cups, quantity: -3, unitPrice: 2 }], totalAmount: -6, amountPaid: -6 }
  const { data } = await runScenario(
    tally,
    festival,
    [festival.event(), festival.order({ orderId, ...returned })],
    [
      festival.order({ items: [{ ...cups, quantity: 1, unitPrice: -0.01 }], totalAmount: -0.01 }),
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
  expect(await data('/analytics/orders/top-items')).toMatchObject([{ quantity: -2, revenue: -6.01 }])
  expect(await data(`/orders/${orderId}`)).toMatchObject({
    totalAmount: -6,
    amountPaid: -6,
    effectiveAmount: -6,
    items: [{ quantity: -3, unitPrice: 2 }],
  })
})
