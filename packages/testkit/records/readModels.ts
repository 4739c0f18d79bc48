import { randomUUID } from 'node:crypto'
import { type Event, type EventId, event, type Order, type OrganizationId, order } from '@tally/contract'

export const newEventId = () => randomUUID() as EventId
export const newOrganizationId = () => randomUUID() as OrganizationId

/** An event with Friday (41, closed) and Saturday (42, open), in Rome, with what is named otherwise. */
export function anEvent(fields: Record<string, unknown> = {}): Event {
  return event.parse({
    eventId: newEventId(),
    organizationId: newOrganizationId(),
    version: 1,
    name: 'Sagra del Pesce',
    startDate: '2026-09-04T16:00:00Z',
    timeZone: 'Europe/Rome',
    areas: [{ areaId: 1, name: 'Kitchen' }],
    days: [
      { dayId: 41, date: '2026-09-04', openedAt: '2026-09-04T16:00:00Z', closedAt: '2026-09-05T00:10:00Z' },
      { dayId: 42, date: '2026-09-05', openedAt: '2026-09-05T16:00:00Z' },
    ],
    menuItems: [{ menuItemId: 7, name: 'Burger', categoryName: 'Grill' }],
    ...fields,
  })
}

/** A paid order of two burgers, 17 euros, on Friday at 19:31 UTC, with what is named otherwise. */
export function anOrder(fields: Record<string, unknown> = {}): Order {
  return order.parse({
    eventId: newEventId(),
    orderId: 'A-1',
    version: 1,
    displayOrderNumber: '1',
    status: 'Paid',
    areaId: 1,
    dayId: 41,
    orderDateTime: '2026-09-04T19:31:07Z',
    paymentMethod: 'Cash',
    amountPaid: 20,
    totalAmount: 17,
    isTakeaway: false,
    items: [{ menuItemId: 7, itemName: 'Burger', quantity: 2, unitPrice: 8.5 }],
    ...fields,
  })
}
