import type { EpochMs, OrderStatus } from '@tally/contract'
import { getOrInsertComputed } from '../getOrInsertComputed.ts'
import type { OrderFacts } from './facts.ts'

/** The area under which all areas of a day are counted together; real ids begin at 1. */
export const allAreas = 0

/** Orders by status. */
export type StatusCounts = Record<OrderStatus, number>

/** Signed amounts for one (day, area): what to add to its stored counters. Money in cents. */
export type DailyChange = { statuses: StatusCounts; salesCents: number; itemsSold: number }
export type HourlyChange = { orders: number; salesCents: number }
export type ItemChange = {
  orders: number
  quantity: number
  grossCents: number
  refundedQuantity: number
  refundedCents: number
}

/**
 * The changes of one (day, area): in total, by time bucket (`bucketStart`), by menu item and by order bucket. Order
 * buckets are counted only for an order's own area.
 */
export type AreaChanges = {
  daily: DailyChange
  hourly: Map<EpochMs, HourlyChange>
  items: Map<number, ItemChange>
  orderBuckets: Map<number, StatusCounts>
}

/** Counter changes of one event: day → area (or all areas) → changes. An empty map changes nothing. */
export type CounterChanges = Map<number, Map<number, AreaChanges>>

/** One order's facts, added (+1) or subtracted (-1). An update subtracts the old facts and adds the new ones. */
export type FactChange = { sign: 1 | -1; facts: OrderFacts }

/** The change from what was known of an order to what is known now; either may be absent. */
export function difference(before: OrderFacts | undefined, after: OrderFacts | undefined): FactChange[] {
  const changes: FactChange[] = []
  if (before !== undefined) changes.push({ sign: -1, facts: before })
  if (after !== undefined) changes.push({ sign: 1, facts: after })
  return changes
}

/**
 * Adds fact changes to counter changes, for the order's own area and for all areas. Changes are sums, so any order and
 * any grouping gives the same result.
 */
export function addChanges(into: CounterChanges, changes: FactChange[]): void {
  for (const { sign, facts } of changes) {
    const ownArea = areaChanges(into, facts.dayId, facts.areaId)
    addFacts(ownArea, sign, facts)
    getOrInsertComputed(ownArea.orderBuckets, facts.orderBucket, noStatuses)[facts.status] += sign
    addFacts(areaChanges(into, facts.dayId, allAreas), sign, facts)
  }
}

function addFacts({ daily, hourly, items }: AreaChanges, sign: 1 | -1, facts: OrderFacts): void {
  daily.statuses[facts.status] += sign
  if (!facts.confirmed) return
  daily.salesCents += sign * facts.salesCents
  daily.itemsSold += sign * facts.itemsSold

  const bucket = getOrInsertComputed(hourly, facts.bucket, () => ({ orders: 0, salesCents: 0 }))
  bucket.orders += sign
  bucket.salesCents += sign * facts.salesCents

  for (const item of facts.items) {
    const change = getOrInsertComputed(items, item.menuItemId, noItemChange)
    change.orders += sign
    change.quantity += sign * item.quantity
    change.grossCents += sign * item.grossCents
    change.refundedQuantity += sign * item.refundedQuantity
    change.refundedCents += sign * item.refundedCents
  }
}

function areaChanges(changes: CounterChanges, dayId: number, areaId: number): AreaChanges {
  const areas = getOrInsertComputed(changes, dayId, () => new Map<number, AreaChanges>())
  return getOrInsertComputed(areas, areaId, noAreaChanges)
}

/** The empty element: it changes nothing. */
export function noAreaChanges(): AreaChanges {
  return { daily: noDailyChange(), hourly: new Map(), items: new Map(), orderBuckets: new Map() }
}

function noDailyChange(): DailyChange {
  return { statuses: noStatuses(), salesCents: 0, itemsSold: 0 }
}

/** No order of any status. */
export function noStatuses(): StatusCounts {
  return { PreOrder: 0, Pending: 0, Paid: 0, Preparing: 0, ReadyForPickup: 0, Completed: 0, Cancelled: 0 }
}

function noItemChange(): ItemChange {
  return { orders: 0, quantity: 0, grossCents: 0, refundedQuantity: 0, refundedCents: 0 }
}
