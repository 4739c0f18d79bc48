import type { TestRecord } from '@tally/testkit/processes/tally'
import { type Random, randomFrom } from '@tally/testkit/random'
import { areas, daysOf, isChanged, menuItemsOf, organizationOf, type Shape } from './shape.ts'

/** The id of an event or an organization of a data set, by its number. */
export const idOf = (seed: number, kind: 'event' | 'organization', number: number): string =>
  randomFrom(seed, `${kind} ${number}`).uuid()

export const organizationRecord = (seed: number, number: number): TestRecord => ({
  type: 'organizations',
  value: {
    organizationId: idOf(seed, 'organization', number),
    version: 1,
    name: `Pro Loco ${number}`,
    status: 'ActiveDayPass',
  },
})

const firstDay = Date.UTC(2026, 8, 4, 16)
const dayMs = 24 * 3600_000
const openMs = 6 * 3600_000
const instant = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z')

/** The last day is open; the menu items are in four categories. */
export function eventRecord(shape: Shape, number: number): TestRecord {
  const { seed } = shape
  const days = idsTo(daysOf(shape))
  const value = {
    eventId: idOf(seed, 'event', number),
    organizationId: idOf(seed, 'organization', organizationOf(shape, number)),
    version: 1,
    name: `Sagra ${number}`,
    startDate: instant(firstDay),
    timeZone: 'Europe/Rome',
    areas: areas.map(areaId => ({ areaId, name: `Area ${areaId}` })),
    days: days.map(dayId => ({
      dayId,
      date: instant(firstDay + (dayId - 1) * dayMs).slice(0, 10),
      openedAt: instant(firstDay + (dayId - 1) * dayMs),
      closedAt: dayId === days.length ? null : instant(firstDay + (dayId - 1) * dayMs + openMs),
    })),
    menuItems: idsTo(menuItemsOf(shape)).map(menuItemId => ({
      menuItemId,
      name: nameOf(menuItemId),
      categoryName: `Category ${menuItemId % 4}`,
    })),
  }
  return { type: 'events', value }
}

const idsTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)
const nameOf = (menuItemId: number) => `Menu item number ${menuItemId}`
const centsOf = (menuItemId: number) => 150 + ((menuItemId * 37) % 1500)
const orderIdOf = (event: number, order: number) => `T${event}-${String(order).padStart(7, '0')}`

/** Order number `order` of an event at a version: the second one changes its status and nothing else. */
export function orderRecord(
  shape: Shape,
  of: { eventId: string; event: number; order: number; version: 1 | 2 },
): TestRecord {
  const { eventId, event, order, version } = of
  const random = randomFrom(shape.seed, `${event} ${order}`)
  const aDay = Math.ceil((shape.ordersByEvent[event] ?? 1) / daysOf(shape))
  const day = Math.floor(order / aDay)
  const secondOfDay = Math.floor(((order % aDay) / aDay) * (openMs / 1000))
  const menuItems = menuItemsOf(shape)
  const items = [lineOf(random, menuItems), lineOf(random, menuItems), lineOf(random, menuItems)]
  const gross = items.reduce((sum, { quantity, menuItemId }) => sum + quantity * centsOf(menuItemId), 0)
  const total = random.chance(0.1) ? Math.floor(gross * 0.9) : gross
  const value = {
    eventId,
    orderId: orderIdOf(event, order),
    version,
    displayOrderNumber: String(1 + (order % 999)),
    areaId: random.of(areas),
    dayId: 1 + day,
    orderDateTime: instant(firstDay + day * dayMs + secondOfDay * 1000),
    paymentMethod: random.of(['Cash', 'Card', 'Voucher']),
    amountPaid: total / 100,
    totalAmount: total / 100,
    isTakeaway: random.chance(0.2),
    tableNumber: random.chance(0.5) ? String(random.whole(1, 60)) : null,
    status: statusOf(random, isChanged(event, order), version),
    items,
  }
  return { type: 'orders', value }
}

/** Some items sell far better than others. */
function lineOf(random: Random, menuItems: number) {
  const menuItemId = 1 + Math.floor(random.unit() ** 2 * menuItems)
  const note = random.chance(0.1) ? 'without onions' : null
  const unitPrice = centsOf(menuItemId) / 100
  return { menuItemId, itemName: nameOf(menuItemId), quantity: random.whole(1, 4), unitPrice, note }
}

function statusOf(random: Random, changes: boolean, version: 1 | 2): string {
  const dice = random.unit()
  if (!changes) return dice < 0.7 ? 'Paid' : 'Completed'
  if (version === 1) return dice < 0.5 ? 'Pending' : 'Paid'
  return dice < 0.05 ? 'Cancelled' : 'Completed'
}

/** Gives back one portion of an order's first line, ten minutes after the order. */
export function refundRecord({ value: order }: TestRecord): TestRecord {
  const { menuItemId, unitPrice } = order.items[0]
  const value = {
    eventId: order.eventId,
    refundId: `R-${order.orderId}`,
    orderId: order.orderId,
    refundedAt: instant(Date.parse(order.orderDateTime) + 600_000),
    // A discount may leave less to give back than the portion cost.
    amount: Math.min(unitPrice, order.totalAmount),
    lines: [{ menuItemId, quantity: 1, amount: Math.min(unitPrice, order.totalAmount) }],
  }
  return { type: 'refunds', value }
}
