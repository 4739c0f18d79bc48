import { type Any, at, compare, low, utc } from './words.ts'

/** The day that has no end yet. */
export const currentDayOf = (event: Any) => event.days.find((day: Any) => (day.closedAt ?? null) === null)

/** An event as the API answers it. */
export function presentEvent(event: Any) {
  const open = currentDayOf(event)
  const currentDay = open ? { id: open.dayId, date: open.date, openedAt: utc(open.openedAt) } : null
  const { name, startDate } = event
  return { id: low(event.eventId), name, startDate: utc(startDate), isOpen: open !== undefined, currentDay }
}

/** The list of an organization's events, newest first. */
export const presentEvents = (events: Any[], organizationId: string) =>
  events
    .filter(event => low(event.organizationId) === organizationId)
    .sort((a, b) => at(b.startDate) - at(a.startDate) || compare(low(a.eventId), low(b.eventId)))
    .map(presentEvent)

/** An order as the API answers it; `effective` in cents. */
export function presentOrder({ order, effective }: { order: Any; effective: number }) {
  const { displayOrderNumber, status, areaId, dayId, paymentMethod, amountPaid, totalAmount, isTakeaway } =
    order
  return {
    id: order.orderId as string,
    displayOrderNumber,
    status: status as string,
    areaId: areaId as number,
    dayId: dayId as number,
    orderDateTime: utc(order.orderDateTime),
    paymentMethod,
    amountPaid,
    totalAmount,
    effectiveAmount: effective / 100,
    isTakeaway,
    tableNumber: order.tableNumber ?? null,
    items: order.items.map((line: Any) => ({
      menuItemId: line.menuItemId,
      itemName: line.itemName,
      quantity: line.quantity,
      unitPrice: line.unitPrice,
      note: line.note ?? null,
    })),
  }
}
