import type { TestRecord } from '@tally/testkit/processes/tally'
import { addFigures, type EventTotals, emptyTotals, type OrderRow } from './totals.ts'

/** A path below `/api/v1/events/{eventId}` and the `data` that it must answer. */
export type Expected = { path: string; data: unknown }

/**
 * The count that every answer is compared with: adds up the raw records and shares no code with the product. Unlike
 * packages/testkit/oracle it has to do with millions of orders, so it keeps a row of numbers of each.
 */
export type Count = {
  add: (record: TestRecord) => void
  eventIds: () => string[]
  organizationIdOf: (eventId: string) => string
  /** kpis of every day and area, item counts of every day. */
  answers: (eventId: string) => Expected[]
  /** kpis and item counts of the last day, which changes to the end. */
  lastAnswers: (eventId: string) => Expected[]
  /** kpis, item counts, hours and top items of the last day: what a device polls. */
  polledAnswers: (eventId: string) => Expected[]
  /** Ids of the order list without a filter, newest first. */
  listed: (eventId: string) => string[]
  /** Orders that a row is kept of. */
  orders: () => number
}

// biome-ignore lint/suspicious/noExplicitAny: raw records, on purpose without the product's types
type Any = any
type EventCount = { event: Any; orders: Map<string, OrderRow>; refunds: Map<string, Any> }

const cents = (euros: number) => Math.round(euros * 100)
const confirmed = new Set(['Paid', 'Preparing', 'ReadyForPickup', 'Completed'])

export function openCount(): Count {
  const events = new Map<string, EventCount>()
  const cached = new Map<string, EventTotals>()

  const of = (eventId: string): EventCount => {
    const known = events.get(eventId)
    if (known !== undefined) return known
    const begun = { event: undefined, orders: new Map(), refunds: new Map() }
    events.set(eventId, begun)
    return begun
  }

  const totals = (eventId: string): EventTotals => {
    const known = cached.get(eventId)
    if (known !== undefined) return known
    const { orders, refunds } = of(eventId)
    const refundsByOrder = Map.groupBy(refunds.values(), ({ orderId }) => orderId as string)
    const sums = emptyTotals()
    for (const [orderId, row] of orders) addFigures(sums, row, refundsByOrder.get(orderId) ?? [])
    cached.set(eventId, sums)
    return sums
  }

  const kpis = (eventId: string, dayId: number, areaId?: number) => kpisOf(totals(eventId), dayId, areaId)
  const itemCounts = (eventId: string, dayId: number) =>
    itemCountsOf(totals(eventId), of(eventId).event.menuItems, dayId)

  return {
    add({ type, value }) {
      if (type === 'organizations') return
      const { orders, refunds } = of(value.eventId)
      cached.delete(value.eventId)
      if (type === 'events') of(value.eventId).event = value
      else if (type === 'refunds') refunds.has(value.refundId) || refunds.set(value.refundId, value)
      else if ((orders.get(value.orderId)?.[0] ?? 0) < value.version) orders.set(value.orderId, rowOf(value))
    },
    eventIds: () => [...events.keys()],
    organizationIdOf: eventId => of(eventId).event.organizationId,
    answers(eventId) {
      const { days, areas } = of(eventId).event
      return days.flatMap(({ dayId }: Any) => [
        kpis(eventId, dayId),
        ...areas.map(({ areaId }: Any) => kpis(eventId, dayId, areaId)),
        itemCounts(eventId, dayId),
      ])
    },
    lastAnswers(eventId) {
      const { dayId } = of(eventId).event.days.at(-1)
      return [kpis(eventId, dayId), itemCounts(eventId, dayId)]
    },
    polledAnswers(eventId) {
      const { days, menuItems } = of(eventId).event
      const { dayId } = days.at(-1)
      const sums = totals(eventId)
      return [
        kpis(eventId, dayId),
        itemCounts(eventId, dayId),
        hoursOf(sums, dayId),
        topItemsOf(sums, menuItems, dayId),
      ]
    },
    listed: eventId =>
      [...of(eventId).orders]
        .filter(([, row]) => row[4] === 1)
        .sort(([one, a], [other, b]) => b[6] - a[6] || (one < other ? 1 : -1))
        .map(([orderId]) => orderId),
    orders: () => [...events.values()].reduce((sum, { orders }) => sum + orders.size, 0),
  }
}

function kpisOf({ sales }: EventTotals, dayId: number, areaId?: number): Expected {
  const sum = sales.get(`${dayId}/${areaId ?? 'all'}`) ?? { orders: 0, cents: 0, items: 0 }
  const average = sum.orders === 0 ? 0 : Math.floor((2 * sum.cents + sum.orders) / (2 * sum.orders)) / 100
  const data = {
    totalOrders: sum.orders,
    totalSales: sum.cents / 100,
    currency: 'EUR',
    averageOrderValue: average,
    totalItemsSold: sum.items,
  }
  return { path: `/analytics/kpis?dayId=${dayId}${areaId === undefined ? '' : `&areaId=${areaId}`}`, data }
}

function itemCountsOf({ items }: EventTotals, menuItems: Any[], dayId: number): Expected {
  const names = new Map<number, string>(menuItems.map(item => [item.menuItemId, item.name]))
  const sold = [...(items.get(dayId) ?? [])].sort(([one], [other]) => one - other)
  const data = sold.map(([menuItemId, { quantity, refunded }]) => ({
    menuItemId,
    itemName: names.get(menuItemId),
    quantitySold: quantity,
    quantityRefunded: refunded,
  }))
  return { path: `/live/item-counts?dayId=${dayId}`, data }
}

function hoursOf({ hours }: EventTotals, dayId: number): Expected {
  const data = [...(hours.get(dayId) ?? [])]
    .sort(([one], [other]) => one - other)
    .map(([hour, sum]) => ({
      hour,
      orderCount: sum.orders,
      revenue: sum.cents / 100,
      currency: 'EUR',
    }))
  return { path: `/analytics/orders/by-hour?dayId=${dayId}`, data }
}

/** The ten that sell best: the API's default. */
function topItemsOf({ items }: EventTotals, menuItems: Any[], dayId: number): Expected {
  const listed = new Map<number, Any>(menuItems.map(item => [item.menuItemId, item]))
  const data = [...(items.get(dayId) ?? [])]
    .sort(([one, a], [other, b]) => b.quantity - a.quantity || b.cents - a.cents || one - other)
    .slice(0, 10)
    .map(([menuItemId, sold]) => ({
      menuItemId,
      itemName: listed.get(menuItemId).name,
      categoryName: listed.get(menuItemId).categoryName,
      quantity: sold.quantity,
      revenue: sold.cents / 100,
      refundedQuantity: sold.refunded,
      refundedRevenue: sold.refundedCents / 100,
      currency: 'EUR',
    }))
  return { path: `/analytics/orders/top-items?dayId=${dayId}`, data }
}

function rowOf(order: Any): OrderRow {
  return [
    order.version,
    order.dayId,
    order.areaId,
    confirmed.has(order.status) ? 1 : 0,
    order.status === 'Cancelled' ? 0 : 1,
    cents(order.totalAmount),
    Date.parse(order.orderDateTime),
    ...order.items.flatMap((line: Any) => [line.menuItemId, line.quantity, cents(line.unitPrice)]),
  ]
}
