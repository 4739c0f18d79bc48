import { randomUUID } from 'node:crypto'
import type { TestRecord } from '../processes/tally.ts'
import * as records from './records.ts'
import { bar, burger, type Fields, friday, kitchen, saturday } from './records.ts'

export { bar, burger, type Fields, friday, kitchen, saturday }
export const sunday = 43
export const water = 9
export const cake = 11

export type Festival = ReturnType<typeof newFestival>

let lastOrder = 0
let lastRefund = 0

/** A festival with ids of its own; each function makes one valid record of it, apart from the fields it is given. */
export function newFestival(ids: { organizationId?: string; eventId?: string } = {}) {
  const { organizationId = randomUUID(), eventId = randomUUID() } = ids
  return {
    organizationId,
    eventId,
    /** Where the API answers about it. */
    path: `/api/v1/events/${eventId}`,
    organization: (fields: Fields = {}): TestRecord => ({
      type: 'organizations',
      value: records.anOrganization({ organizationId, ...fields }),
    }),
    event: (fields: Fields = {}): TestRecord => ({
      type: 'events',
      value: records.anEvent({ eventId, organizationId, menuItems: menu, ...fields }),
    }),
    order: (fields: Fields = {}): TestRecord => ({
      type: 'orders',
      value: records.anOrder({ eventId, orderId: `till-${++lastOrder}`, ...saturdayOrder, ...fields }),
    }),
    /** A refund of one of the burgers of the order `orderId`. */
    refund: (fields: Fields & { orderId: unknown }): TestRecord => ({
      type: 'refunds',
      value: records.aRefund({ eventId, refundId: `back-${++lastRefund}`, ...burgerRefund, ...fields }),
    }),
  }
}

const menu = [
  { menuItemId: burger, name: 'Burger', categoryName: 'Grill' },
  { menuItemId: water, name: 'Acqua', categoryName: 'Drinks' },
  { menuItemId: cake, name: 'Cake', categoryName: '' },
]

/** Two burgers at €12.50 and a water at €2.50, at the kitchen on Saturday at 21:31 in Rome. */
const saturdayOrder = {
  displayOrderNumber: '123',
  dayId: saturday,
  orderDateTime: '2026-09-05T19:31:07Z',
  amountPaid: 30,
  totalAmount: 27.5,
  tableNumber: '12',
  items: [
    { menuItemId: burger, itemName: 'Burger', quantity: 2, unitPrice: 12.5, note: null },
    { menuItemId: water, itemName: 'Acqua', quantity: 1, unitPrice: 2.5, note: 'cold' },
  ],
}

const burgerRefund = {
  refundedAt: '2026-09-05T20:02:00Z',
  amount: 12.5,
  lines: [{ menuItemId: burger, quantity: 1, amount: 12.5 }],
}
