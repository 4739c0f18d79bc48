import { randomUUID } from 'node:crypto'
import type { EventId, OrganizationId } from '@tally/contract'

/** The tests' fixtures: one festival, two days, two areas, a burger, chips, an order, a refund. */
export const festival = '7c1e0000-0000-4000-8000-000000000001' as EventId
export const proLoco = '0b5a0000-0000-4000-8000-000000000001' as OrganizationId
export const friday = 41
export const saturday = 42
export const kitchen = 1
export const bar = 2
export const burger = 7
export const chips = 9

export const newEventId = () => randomUUID() as EventId
export const newOrganizationId = () => randomUUID() as OrganizationId

/** Fields of a record that replace the default ones, good or bad. */
export type Fields = Record<string, unknown>

/** The record of an organization. */
export const anOrganization = (fields: Fields = {}) => ({
  organizationId: proLoco as string,
  version: 1,
  name: 'Pro Loco San Vito',
  status: 'ActiveDayPass',
  ...fields,
})

/** The record of an event in Rome with two days: Friday is closed, Saturday is open. */
export const anEvent = (fields: Fields = {}) => ({
  eventId: festival as string,
  organizationId: proLoco as string,
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
    { menuItemId: chips, name: 'Chips', categoryName: '' },
  ],
  ...fields,
})

/** The record of a paid order of two burgers, €17, at the kitchen on Friday at 21:31 in Rome. */
export const anOrder = (fields: Fields = {}) => ({
  eventId: festival as string,
  orderId: 'A-1',
  version: 1,
  displayOrderNumber: '1',
  status: 'Paid',
  areaId: kitchen,
  dayId: friday,
  orderDateTime: '2026-09-04T19:31:07Z',
  paymentMethod: 'Cash',
  amountPaid: 20,
  totalAmount: 17,
  isTakeaway: false,
  items: [{ menuItemId: burger, itemName: 'Burger', quantity: 2, unitPrice: 8.5 }],
  ...fields,
})

/** The record of a refund of one burger of order A-1, €8.50. */
export const aRefund = (fields: Fields = {}) => ({
  eventId: festival as string,
  refundId: 'R-1',
  orderId: 'A-1',
  refundedAt: '2026-09-04T20:02:00Z',
  amount: 8.5,
  lines: [{ menuItemId: burger, quantity: 1, amount: 8.5 }],
  ...fields,
})
