import type { Order, Refund } from '@tally/contract'
import { applyOrder } from '../apply/order.ts'
import { applyRefund } from '../apply/refund.ts'
import { addChanges, type CounterChanges } from '../counters/changes.ts'
import { type KnownOrder, noRefunds } from '../counters/facts.ts'
import type { HourOf } from '../hours.ts'

/** A good record of one event. */
export type GoodRecord = { order: Order } | { refund: Refund }

/** Counters of one event by name, as `41/0/sales` (day, area, what); zeros are left out. */
export type Counted = Record<string, number>

/** What the core counts of these batches of records, added up as a database would; its time buckets as hours. */
export function counted(batches: GoodRecord[][], hourOf: HourOf): Counted {
  const known = new Map<string, KnownOrder<Order>>()
  const seen = new Set<string>()
  const totals = new Map<string, number>()

  for (const batch of batches) {
    const changes: CounterChanges = new Map()
    for (const record of batch) {
      const orderId = 'order' in record ? record.order.orderId : record.refund.orderId
      const before = known.get(orderId) ?? { order: undefined, refunds: noRefunds }
      if ('refund' in record && seen.has(record.refund.refundId)) continue
      if ('refund' in record) seen.add(record.refund.refundId)
      const outcome =
        'order' in record ? applyOrder(before, record.order) : applyRefund(before, record.refund)
      if (outcome.outcome !== 'duplicate') known.set(orderId, outcome.next)
      if (outcome.outcome === 'applied') addChanges(changes, outcome.changes)
    }
    for (const [name, amount] of flatten(changes, hourOf)) totals.set(name, (totals.get(name) ?? 0) + amount)
  }
  return Object.fromEntries([...totals].filter(([, amount]) => amount !== 0))
}

function* flatten(changes: CounterChanges, hourOf: HourOf): Generator<[string, number]> {
  for (const [day, areas] of changes) {
    for (const [area, { daily, hourly, items, slots }] of areas) {
      const at = `${day}/${area}`
      for (const [status, count] of Object.entries(daily.statuses)) yield [`${at}/${status}`, count]
      yield [`${at}/sales`, daily.salesCents]
      yield [`${at}/sold`, daily.itemsSold]
      for (const [bucket, change] of hourly) {
        yield [`${at}/hour${hourOf(bucket)}/orders`, change.orders]
        yield [`${at}/hour${hourOf(bucket)}/sales`, change.salesCents]
      }
      for (const [item, change] of items) {
        for (const [what, amount] of Object.entries(change)) yield [`${at}/item${item}/${what}`, amount]
      }
      for (const [slot, statuses] of slots) {
        for (const [status, count] of Object.entries(statuses)) yield [`${at}/slot${slot}/${status}`, count]
      }
    }
  }
}
