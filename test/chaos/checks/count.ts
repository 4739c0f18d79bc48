import type { EventBook, Raw } from './eventBook.ts'

export const confirmedStatuses = ['Paid', 'Preparing', 'ReadyForPickup', 'Completed']
const refundLinesSince = Date.parse('2026-08-19T00:00:00Z')

const cents = (euros: number) => Math.round(euros * 100)

type Item = { quantity: number; revenue: number; refundedQuantity: number; refundedRevenue: number }
export type Bucket = {
  orders: number
  cents: number
  hours: Map<number, { orders: number; cents: number }>
  items: Map<number, Item>
}

export type Counted = { order: Raw; items: Map<number, Item>; effective: number }

/** Each order with its refunds, in the order of the list (docs/api.md, Answers). */
export function countOrders({ orders, refunds }: EventBook): Counted[] {
  const byOrder = Map.groupBy(refunds.values(), ({ orderId }) => orderId as string)
  return [...orders.values()]
    .map(order => countOrder(order, byOrder.get(order.orderId) ?? []))
    .sort(
      ({ order: one }, { order: other }) =>
        Date.parse(other.orderDateTime) - Date.parse(one.orderDateTime) ||
        (one.orderId < other.orderId ? 1 : -1),
    )
}

export function countOrder(order: Raw, refunds: Raw[]): Counted {
  const items = new Map<number, Item>()
  for (const { menuItemId, quantity, unitPrice } of order.items) {
    const item = items.get(menuItemId) ?? { quantity: 0, revenue: 0, refundedQuantity: 0, refundedRevenue: 0 }
    item.quantity += quantity
    item.revenue += quantity * cents(unitPrice)
    items.set(menuItemId, item)
  }
  for (const { lines } of refunds.filter(({ refundedAt }) => Date.parse(refundedAt) >= refundLinesSince)) {
    for (const { menuItemId, quantity, amount } of lines ?? []) {
      const item = items.get(menuItemId)
      if (item === undefined) continue
      item.refundedQuantity += quantity
      item.refundedRevenue += cents(amount)
    }
  }
  for (const item of items.values()) {
    item.refundedQuantity = Math.min(Math.max(0, item.quantity), item.refundedQuantity)
    item.refundedRevenue = Math.min(Math.max(0, item.revenue), item.refundedRevenue)
    item.quantity -= item.refundedQuantity
    item.revenue -= item.refundedRevenue
  }
  const whole = cents(order.totalAmount)
  const effective = whole - Math.min(Math.max(0, whole), total(refunds.map(({ amount }) => cents(amount))))
  return { order, items, effective }
}

export function bucketsOf(event: Raw, counted: Counted[]): (dayId: number | null, areaId?: number) => Bucket {
  const buckets = new Map<string, Bucket>()
  const at = (dayId: number | null, areaId?: number): Bucket => {
    const key = `${dayId}:${areaId ?? ''}`
    const known = buckets.get(key) ?? { orders: 0, cents: 0, hours: new Map(), items: new Map() }
    buckets.set(key, known)
    return known
  }
  const clock = new Intl.DateTimeFormat('en', {
    hour: '2-digit',
    hourCycle: 'h23',
    timeZone: event.timeZone ?? 'UTC',
  })
  for (const { order, items, effective } of counted) {
    if (!confirmedStatuses.includes(order.status)) continue
    const hour = Number(clock.format(Date.parse(order.orderDateTime)))
    for (const bucket of [at(order.dayId), at(order.dayId, order.areaId)]) {
      bucket.orders += 1
      bucket.cents += effective
      const ofHour = bucket.hours.get(hour) ?? { orders: 0, cents: 0 }
      bucket.hours.set(hour, { orders: ofHour.orders + 1, cents: ofHour.cents + effective })
      for (const [id, item] of items) bucket.items.set(id, plus(bucket.items.get(id), item))
    }
  }
  return at
}

export const total = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0)

function plus(known: Item | undefined, more: Item): Item {
  if (known === undefined) return { ...more }
  return {
    quantity: known.quantity + more.quantity,
    revenue: known.revenue + more.revenue,
    refundedQuantity: known.refundedQuantity + more.refundedQuantity,
    refundedRevenue: known.refundedRevenue + more.refundedRevenue,
  }
}
