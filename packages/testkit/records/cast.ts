import { type Event, event, type Order, order, type Refund, refund } from '@tally/contract'

/** The named cast of the tests: one festival, two days, two areas, a burger, chips, a refund. */
export const festival = '7c1e0000-0000-4000-8000-000000000001'
export const proLoco = '0b5a0000-0000-4000-8000-000000000001'
export const friday = 41
export const saturday = 42
export const kitchen = 1
export const bar = 2
export const burger = 7
export const chips = 9

/** A line of an order as it stands in a record: euros. */
export type WireLine = { menuItemId: number; quantity: number; unitPrice: number }
export const burgers = (quantity: number, unitPrice = 8.5): WireLine => ({
  menuItemId: burger,
  quantity,
  unitPrice,
})

type OrderFields = Partial<{
  eventId: string
  orderId: string
  version: number
  displayOrderNumber: string
  status: Order['status']
  areaId: number
  dayId: number
  orderDateTime: string
  totalAmount: number
  tableNumber: string | null
}>

/** An order of two burgers at the kitchen on Friday, 17 euros, paid; with what is named otherwise. */
export function anOrder({
  items = [burgers(2)],
  ...fields
}: OrderFields & { items?: WireLine[] } = {}): Order {
  return order.parse({
    eventId: festival,
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
    ...fields,
    items: items.map(line => ({ itemName: 'On the bill', ...line })),
  })
}

export type WireRefund = Partial<{
  eventId: string
  refundId: string
  orderId: string
  refundedAt: string
  amount: number
  lines: { menuItemId: number; quantity: number; amount: number }[]
}>

/** A refund of one burger of order A-1, 8.50 euros, with what is named otherwise. */
export function aRefund(fields: WireRefund = {}): Refund {
  return refund.parse({
    eventId: festival,
    refundId: 'R-1',
    orderId: 'A-1',
    refundedAt: '2026-09-04T20:02:00Z',
    amount: 8.5,
    lines: [{ menuItemId: burger, quantity: 1, amount: 8.5 }],
    ...fields,
  })
}

/** The festival with both days, Friday closed and Saturday open, with what is named otherwise. */
export function anEvent(fields: Record<string, unknown> = {}): Event {
  return event.parse({
    eventId: festival,
    organizationId: proLoco,
    version: 1,
    name: 'Sagra del Pesce',
    startDate: '2026-09-04T16:00:00Z',
    timeZone: 'Europe/Rome',
    areas: [
      { areaId: kitchen, name: 'Kitchen' },
      { areaId: bar, name: 'Bar' },
    ],
    days: [
      {
        dayId: friday,
        date: '2026-09-04',
        openedAt: '2026-09-04T16:00:00Z',
        closedAt: '2026-09-05T00:10:00Z',
      },
      { dayId: saturday, date: '2026-09-05', openedAt: '2026-09-05T16:00:00Z' },
    ],
    menuItems: [
      { menuItemId: burger, name: 'Burger', categoryName: 'Grill' },
      { menuItemId: chips, name: 'Chips', categoryName: '' },
    ],
    ...fields,
  })
}
