import type { EpochMs, Order, Refund } from '@tally/contract'
import {
  addChanges,
  type Counter,
  type CounterChanges,
  counterNames,
  counters,
  getOrInsertComputed,
  type HourOf,
  type KnownOrder,
  type RefundChange,
  unknownOrder,
} from '@tally/figures'
import { applyOrder, applyRefund, applyRefundsToOrder } from '../judge/versions.ts'

/** A valid record of one event. */
export type GoodRecord = { order: Order } | { refund: Refund }

/** Amounts of one event by day, area, own key and name: `41/0/salesCents`, `41/0/item7/orders`; zeros are left out. */
export type Counted = Record<string, number>

/** What the core counts for these batches, added up as a database would; time buckets become hours. */
export function counted(batches: GoodRecord[][], hourOf: HourOf): Counted {
  const known = new Map<string, KnownOrder<Order>>()
  const stored = new Map<string, Refund>()
  const totals = new Map<string, number>()

  for (const batch of batches) {
    const changes: CounterChanges = new Map()
    const winners = new Map<string, Refund>()
    for (const record of batch) {
      if ('order' in record) {
        const { orderId } = record.order
        const outcome = applyOrder(known.get(orderId) ?? unknownOrder, record.order)
        if (outcome.outcome === 'duplicate') continue
        known.set(orderId, outcome.next)
        addChanges(changes, outcome.changes)
      } else {
        const { refundId } = record.refund
        const applied = applyRefund(
          winners.get(refundId) ?? stored.get(refundId),
          record.refund,
          () => undefined,
        )
        if (applied.outcome === 'applied') winners.set(refundId, applied.next)
      }
    }
    const refunds = new Map<string, RefundChange[]>()
    for (const [refundId, after] of winners) {
      getOrInsertComputed(refunds, after.orderId, () => []).push({ before: stored.get(refundId), after })
      stored.set(refundId, after)
    }
    for (const [orderId, ofOrder] of refunds) {
      const outcome = applyRefundsToOrder(known.get(orderId) ?? unknownOrder, ofOrder)
      known.set(orderId, outcome.next)
      if (outcome.outcome === 'applied') addChanges(changes, outcome.changes)
    }
    for (const [name, amount] of flatten(changes, hourOf)) totals.set(name, (totals.get(name) ?? 0) + amount)
  }
  return Object.fromEntries([...totals].filter(([, amount]) => amount !== 0))
}

function* flatten(changes: CounterChanges, hourOf: HourOf): Generator<[string, number]> {
  for (const [day, areas] of changes) {
    for (const [area, rows] of areas) {
      for (const name of counterNames) {
        const { key } = counters[name] as Counter
        const own = Object.entries(key).find(([column]) => column !== 'day_id' && column !== 'area_id')
        for (const [value, row] of rows[name]) {
          const of =
            own?.[1] === 'time' ? `hour${hourOf(value as EpochMs)}/` : own ? `${own[0]}${value}/` : ''
          for (const [amount, number] of Object.entries(row)) yield [`${day}/${area}/${of}${amount}`, number]
        }
      }
    }
  }
}
