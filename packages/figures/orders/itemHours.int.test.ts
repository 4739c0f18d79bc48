import { type MenuItemId, type Order, orderStatuses } from '@tally/contract'
import { countNewOrders } from '@tally/testkit/records/countNewOrders'
import { anOrder, burgers } from '@tally/testkit/records/decoded'
import { burger, newEventId } from '@tally/testkit/records/records'
import { databaseOfFile } from '@tally/testkit/servers/database'
import { expect, test } from 'vitest'
import { storeRefundSums } from '../refunds.ts'
import { hourIn } from '../time.ts'
import { readItemHours } from './itemHours.ts'

const { db } = await databaseOfFile()
const rome = hourIn('Europe/Rome')
const menuItemId = burger as MenuItemId

/** Orders of an event of its own on day 41, one burger of €8.50 each unless they say otherwise. */
function ordersOf(fields: Parameters<typeof anOrder>[0][]): { eventId: Order['eventId']; orders: Order[] } {
  const eventId = newEventId() as Order['eventId']
  const orders = fields.map((own, index) =>
    anOrder({ eventId, dayId: 41, orderId: `A-${index}`, items: [burgers(1)], totalAmount: 8.5, ...own }),
  )
  return { eventId, orders }
}

test('each local hour has what the confirmed orders of its day and area sold of the item', async () => {
  const other = { menuItemId: 10 * burger + 1, quantity: 5, unitPrice: 2 }
  const { eventId, orders } = ordersOf([
    { orderDateTime: '2026-09-04T19:59:59.999Z' },
    { orderDateTime: '2026-09-04T20:00:00Z', items: [burgers(2), other, burgers(1, 4)], totalAmount: 31 },
    { orderDateTime: '2026-09-04T22:30:00Z', areaId: 2, items: [burgers(4)], totalAmount: 34 },
    { orderDateTime: '2026-09-04T22:45:00Z', items: [burgers(-1)], totalAmount: -8.5 },
    { orderDateTime: '2026-09-04T21:00:00Z', items: [other], totalAmount: 10 },
    { orderDateTime: '2026-09-04T21:00:00Z', dayId: 42 },
    ...orderStatuses.map(status => ({ status, orderDateTime: '2026-09-05T01:00:00Z' })),
  ])
  await countNewOrders(db, orders)
  const evening = { eventId, dayId: 41, menuItemId }
  expect(await readItemHours(db, evening, rome)).toEqual([
    { hour: 0, quantity: 3, revenue: 25.5 },
    { hour: 3, quantity: 4, revenue: 34 },
    { hour: 21, quantity: 1, revenue: 8.5 },
    { hour: 22, quantity: 3, revenue: 21 },
  ])
  expect(await readItemHours(db, { ...evening, areaId: 2 }, rome)).toEqual([
    { hour: 0, quantity: 4, revenue: 34 },
  ])
  expect(await readItemHours(db, { ...evening, dayId: 43 }, rome)).toEqual([])
})

test('a refund counts for the hour of its order, and takes back at most what was sold', async () => {
  const { eventId, orders } = ordersOf([{ items: [burgers(3)], totalAmount: 25.5 }, {}, {}])
  await countNewOrders(db, orders)
  const refunded = [
    { quantity: 1, amount: 850 },
    { quantity: 9, amount: 9_999 },
  ]
  const sums = refunded.map((line, index) => ({
    eventId,
    orderId: `A-${index}` as Order['orderId'],
    refunds: { amount: line.amount, lines: [{ menuItemId, ...line }] },
  }))
  await db.transaction().execute(tx => storeRefundSums(sums).execute(tx))
  expect(await readItemHours(db, { eventId, dayId: 41, menuItemId }, rome)).toEqual([
    { hour: 21, quantity: 3, revenue: 25.5 },
  ])
})

test('an evening of more orders than a page has is whole, at whatever times they lie', async () => {
  const start = Date.parse('2026-09-04T18:00:00Z')
  const { eventId, orders } = ordersOf(
    Array.from({ length: 2_500 }, (_, index) => ({
      orderDateTime: new Date(start + Math.floor(index / 700) * 3_600_000).toISOString(),
    })),
  )
  await countNewOrders(db, orders)
  const hours = await readItemHours(db, { eventId, dayId: 41, menuItemId }, rome)
  expect(hours.map(({ hour, quantity }) => [hour, quantity])).toEqual([
    [20, 700],
    [21, 700],
    [22, 700],
    [23, 400],
  ])
})
