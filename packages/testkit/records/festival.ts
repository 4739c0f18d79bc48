import { randomUUID } from 'node:crypto'
import type { TestRecord } from '../processes/tally.ts'

/** The cast of every test: a kitchen and a bar, Friday that is over and Saturday that is open, three things to eat. */
export const kitchen = 1
export const bar = 2
export const friday = 41
export const saturday = 42
export const sunday = 43
export const burger = 7
export const water = 9
export const cake = 11

/** Any fields of a record in place of the usual ones. */
export type Over = Record<string, unknown>
export type Festival = ReturnType<typeof newFestival>

let lastOrder = 0
let lastRefund = 0

/** A festival with ids of its own; each function makes one valid record of it. */
export function newFestival(ids: { organizationId?: string; eventId?: string } = {}) {
  const { organizationId = randomUUID(), eventId = randomUUID() } = ids
  const record = (type: TestRecord['type'], usual: Over, over: Over): TestRecord => ({
    type,
    value: { ...usual, ...over },
  })
  return {
    organizationId,
    eventId,
    /** Where its answers are. */
    path: `/api/v1/events/${eventId}`,
    organization: (over: Over = {}) =>
      record(
        'organizations',
        { organizationId, version: 1, name: 'Pro Loco San Vito', status: 'ActiveDayPass' },
        over,
      ),
    event: (over: Over = {}) => record('events', { eventId, organizationId, ...usualEvent }, over),
    order: (over: Over = {}) =>
      record('orders', { eventId, orderId: `till-${++lastOrder}`, ...usualOrder }, over),
    /** Of the usual order's burgers, one; `orderId` says of which order. */
    refund: (over: Over & { orderId: unknown }) =>
      record('refunds', { eventId, refundId: `back-${++lastRefund}`, ...usualRefund }, over),
  }
}

const usualEvent = {
  version: 1,
  name: 'Sagra del Pesce',
  startDate: '2026-09-04T16:00:00Z',
  timeZone: 'Europe/Rome',
  areas: [
    { areaId: kitchen, name: 'Kitchen' },
    { areaId: bar, name: 'Bar' },
  ],
  days: [
    { dayId: friday, date: '2026-09-04', openedAt: '2026-09-04T16:00:00Z', closedAt: '2026-09-05T00:10:00Z' },
    { dayId: saturday, date: '2026-09-05', openedAt: '2026-09-05T16:00:00Z', closedAt: null },
  ],
  menuItems: [
    { menuItemId: burger, name: 'Burger', categoryName: 'Grill' },
    { menuItemId: water, name: 'Acqua', categoryName: 'Drinks' },
    { menuItemId: cake, name: 'Cake', categoryName: '' },
  ],
}

/** Two burgers at 12.50 and a water at 2.50, in the kitchen, at 21:31 on Saturday. */
const usualOrder = {
  version: 1,
  displayOrderNumber: '123',
  status: 'Paid',
  areaId: kitchen,
  dayId: saturday,
  orderDateTime: '2026-09-05T19:31:07Z',
  paymentMethod: 'Cash',
  amountPaid: 30,
  totalAmount: 27.5,
  isTakeaway: false,
  tableNumber: '12',
  items: [
    { menuItemId: burger, itemName: 'Burger', quantity: 2, unitPrice: 12.5, note: null },
    { menuItemId: water, itemName: 'Acqua', quantity: 1, unitPrice: 2.5, note: 'cold' },
  ],
}

const usualRefund = {
  refundedAt: '2026-09-05T20:02:00Z',
  amount: 12.5,
  lines: [{ menuItemId: burger, quantity: 1, amount: 12.5 }],
}
