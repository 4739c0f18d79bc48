import {
  type AreaId,
  type Cents,
  type DayId,
  type EpochMs,
  type MenuItemId,
  type OrderStatus,
  orderStatuses,
} from '@tally/contract'
import { orderBucketOf } from '../orderBuckets/bucketOf.ts'
import { bucketStart } from '../time/timeBuckets.ts'
import { getOrInsertComputed } from './getOrInsertComputed.ts'
import { noRefunds, type RefundSums } from './refundSums.ts'

/** What counting needs to know about an order at its winning version; a contract `Order` has it. */
export type CountedOrder = {
  version: number
  status: OrderStatus
  areaId: AreaId
  dayId: DayId
  orderDateTime: EpochMs
  paymentMethod: string
  totalAmount: Cents
  items: { menuItemId: MenuItemId; quantity: number; unitPrice: Cents }[]
}

/** What is known of an order: its winning version (undefined while only refunds have arrived) and its refunds. */
export type KnownOrder<Counted extends CountedOrder = CountedOrder> = {
  order: Counted | undefined
  refunds: RefundSums
}

/** Of an order of which nothing has arrived yet. */
export const unknownOrder: KnownOrder<never> = { order: undefined, refunds: noRefunds }

/**
 * What one confirmed order adds for one menu item; `quantity` and `grossCents` are before refunds, and below zero if
 * the order gives back more than it sells (docs/records.md, One order).
 */
export type ItemFacts = {
  menuItemId: MenuItemId
  quantity: number
  grossCents: number
  refundedQuantity: number
  refundedCents: number
}

/** What one order adds to the counters of its own day, area, time bucket (`bucketStart`) and order bucket. */
export type OrderFacts = {
  dayId: DayId
  areaId: AreaId
  bucket: EpochMs
  orderBucket: number
  status: OrderStatus
  confirmed: boolean
  paymentMethod: string
  /** Before refunds, where `salesCents` is net of them. */
  totalCents: number
  salesCents: number
  itemsSold: number
  items: ItemFacts[]
}

/** Confirmed orders are those that analytics read (docs/records.md, Counting). */
export function isConfirmed(status: OrderStatus): boolean {
  return status === 'Paid' || status === 'Preparing' || status === 'ReadyForPickup' || status === 'Completed'
}

export const confirmedStatuses = orderStatuses.filter(isConfirmed)

/** The number of confirmed orders among those counted by status. */
export const confirmedOrders = (counts: Readonly<Record<OrderStatus, number>>): number =>
  confirmedStatuses.reduce((sum, status) => sum + counts[status], 0)

/**
 * totalAmount less what was refunded, in cents: a refund takes back at most what was charged, and nothing of an order
 * that only gives back (docs/records.md, One order).
 */
export function effectiveCents(totalCents: number, refundedCents: number): number {
  return totalCents - atMostSold(totalCents, refundedCents)
}

/** What refunds take back of what was sold: no more than that, and nothing if it is below zero. */
function atMostSold(sold: number, refunded: number): number {
  return sold > 0 ? Math.min(sold, refunded) : 0
}

/**
 * The facts that an order states at its winning version with all of its refunds; undefined while only refunds have
 * arrived. Everything, including refunds, counts for the order's own day, area and time bucket.
 */
export function factsOf({ order, refunds }: KnownOrder): OrderFacts | undefined {
  if (order === undefined) return undefined
  const confirmed = isConfirmed(order.status)
  const items = confirmed ? itemFacts(order, refunds) : []
  return {
    dayId: order.dayId,
    areaId: order.areaId,
    bucket: bucketStart(order.orderDateTime),
    orderBucket: orderBucketOf(order.orderDateTime),
    status: order.status,
    confirmed,
    paymentMethod: order.paymentMethod,
    totalCents: confirmed ? order.totalAmount : 0,
    salesCents: confirmed ? effectiveCents(order.totalAmount, refunds.amount) : 0,
    itemsSold: items.reduce((sum, item) => sum + item.quantity - item.refundedQuantity, 0),
    items,
  }
}

function itemFacts(order: CountedOrder, refunds: RefundSums): ItemFacts[] {
  const items = new Map<MenuItemId, ItemFacts>()
  for (const { menuItemId, quantity, unitPrice } of order.items) {
    const item = getOrInsertComputed(items, menuItemId, () => noItemFacts(menuItemId))
    item.quantity += quantity
    item.grossCents += quantity * unitPrice
  }
  for (const { menuItemId, quantity, amount } of refunds.lines) {
    const item = items.get(menuItemId)
    // A refund line for an item that the order does not have is ignored (docs/records.md, Counting).
    if (item === undefined) continue
    item.refundedQuantity = atMostSold(item.quantity, quantity)
    item.refundedCents = atMostSold(item.grossCents, amount)
  }
  return [...items.values()]
}

const noItemFacts = (menuItemId: MenuItemId): ItemFacts => ({
  menuItemId,
  quantity: 0,
  grossCents: 0,
  refundedQuantity: 0,
  refundedCents: 0,
})
