import {
  type AreaId,
  type Cents,
  type DayId,
  type EpochMs,
  type MenuItemId,
  type OrderStatus,
  orderStatuses,
  type Refund,
} from '@tally/contract'
import { bucketStart, orderBucketOf } from '../time.ts'

/** What counting needs to know about an order at its winning version; a contract `Order` has it. */
export type CountedOrder = {
  version: number
  status: OrderStatus
  areaId: AreaId
  dayId: DayId
  orderDateTime: EpochMs
  paymentMethod: string
  totalAmount: Cents
  items: CountedLine[]
}
type CountedLine = { menuItemId: MenuItemId; quantity: number; unitPrice: Cents }

/**
 * The sums of an order's refunds: `amount` of all, `lines` per menu item, ascending, of those since refunds are tracked
 * per line (docs/records.md, Counting); money in cents.
 */
export type RefundSums = { amount: number; lines: ItemSums[] }
type ItemSums = { menuItemId: MenuItemId; quantity: number; amount: number }
export const noRefunds: RefundSums = { amount: 0, lines: [] }

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
type ItemFacts = {
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
  /** Whether more than the status counts. */
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
export function factsOf({ order, refunds }: KnownOrder, isOnlyStatus = false): OrderFacts | undefined {
  if (order === undefined) return undefined
  const confirmed = !isOnlyStatus && isConfirmed(order.status)
  const items = confirmed ? itemFacts(order, refunds) : []
  return {
    dayId: order.dayId,
    areaId: order.areaId,
    bucket: bucketStart(order.orderDateTime),
    orderBucket: orderBucketOf(order.orderDateTime),
    status: order.status,
    confirmed,
    paymentMethod: order.paymentMethod,
    totalCents: order.totalAmount,
    salesCents: effectiveCents(order.totalAmount, refunds.amount),
    itemsSold: items.reduce((sum, item) => sum + item.quantity - item.refundedQuantity, 0),
    items,
  }
}

/** Whether an order stays confirmed and changes nothing else that counts, as most changes do. */
export function changesStatusAlone(before: KnownOrder, after: KnownOrder): boolean {
  const [one, other] = [before.order, after.order]
  if (one === undefined || other === undefined || before.refunds !== after.refunds) return false
  const hasSameLine = (line: CountedLine, index: number) =>
    lineFields.every(field => line[field] === other.items[index]?.[field])
  return (
    isConfirmed(one.status) &&
    isConfirmed(other.status) &&
    countedFields.every(field => one[field] === other[field]) &&
    one.items.length === other.items.length &&
    one.items.every(hasSameLine)
  )
}

const countedFields = ['dayId', 'areaId', 'orderDateTime', 'paymentMethod', 'totalAmount'] as const
const lineFields = ['menuItemId', 'quantity', 'unitPrice'] as const

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

/** Before this instant refunds were not tracked per line: REFUND_LINES_SINCE (docs/records.md, Counting). */
export const refundLinesSince = Date.UTC(2026, 7, 19)

/**
 * Sums are capped here: an order's amounts are smaller, and a double stays exact. Only after 100,000 refunds of one
 * order with the largest amount is a sum too small when they are taken back.
 */
const maxSum = 1e15

type RefundAmounts = Pick<Refund, 'amount' | 'refundedAt' | 'lines'>

/** A refund's version that is applied now, and the one that it replaces. */
export type RefundChange = { before: RefundAmounts | undefined; after: RefundAmounts }

/** Applies changes of refunds to the sums of their order, in time linear in the lines of both. */
export function changeRefunds(sums: RefundSums, changes: RefundChange[]): RefundSums {
  let { amount } = sums
  const items = new Map(sums.lines.map(line => [line.menuItemId, { ...line }]))
  const add = (sign: 1 | -1, refund: RefundAmounts): void => {
    amount = capped(amount + sign * refund.amount)
    if (refund.refundedAt >= refundLinesSince) addLines(items, sign, refund.lines)
  }
  for (const { after } of changes) add(1, after)
  for (const { before } of changes) if (before !== undefined) add(-1, before)
  return { amount, lines: inOrder(items) }
}

/** The lines of a refund by menu item, ascending, those of one item added up. */
export function linesByItem(lines: readonly ItemSums[]): ItemSums[] {
  const items = new Map<MenuItemId, ItemSums>()
  addLines(items, 1, lines)
  return inOrder(items)
}

function addLines(items: Map<MenuItemId, ItemSums>, sign: 1 | -1, lines: readonly ItemSums[]): void {
  for (const { menuItemId, quantity, amount } of lines) {
    const item = getOrInsertComputed(items, menuItemId, () => ({ menuItemId, quantity: 0, amount: 0 }))
    item.quantity = capped(item.quantity + sign * quantity)
    item.amount = capped(item.amount + sign * amount)
  }
}

const capped = (sum: number): number => Math.max(0, Math.min(maxSum, sum))

/** Without the items of which all refunds were taken back: a line refunds at least one. */
const inOrder = (items: Map<MenuItemId, ItemSums>): ItemSums[] =>
  [...items.values()]
    .filter(({ quantity }) => quantity > 0)
    .sort((one, other) => one.menuItemId - other.menuItemId)

/** The value of a key, which `make` provides if the map has none. Values are never undefined. */
export function getOrInsertComputed<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}
