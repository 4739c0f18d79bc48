import type { EventId, Order } from '@tally/contract'
import { addChanges, applyOrder, type CounterChanges, hourIn, type KnownOrder, noRefunds } from '@tally/core'
import {
  lockEvents,
  orderKey,
  readKnownOrders,
  storeNewOrders,
  storeOrders,
  type Tx,
} from '@tally/read-models'
import { type Effects, noEffects, type Placed } from '../effects.ts'
import { storeChanges } from './storeChanges.ts'

/** Applies the orders of one batch: one look-up for all of them, one write a table. */
export async function applyOrders(tx: Tx, shard: number, orders: Placed<Order>[]): Promise<Effects> {
  const effects = noEffects()
  const keyed = Map.groupBy(orders, ({ value }) => orderKey(value))
  const eventIds = [...new Set(orders.map(({ value }) => value.eventId))]
  const locked = await lockEvents(tx, eventIds, shard)
  const known: Map<string, KnownOrder> = await readKnownOrders(
    tx,
    [...keyed.values()].map(([first]) => (first as Placed<Order>).value),
  )
  const stored = new Set(known.keys())
  const winners = new Map<string, Order>()
  const changes = new Map<EventId, CounterChanges>()

  for (const { value: order } of orders) {
    const key = orderKey(order)
    const before = known.get(key) ?? { order: undefined, refunds: noRefunds }
    const hourOf = hourIn(locked.get(order.eventId)?.timeZone ?? 'UTC')
    const outcome = applyOrder(before, order, hourOf)
    effects.counts[outcome.outcome] += 1
    if (outcome.outcome !== 'applied') continue
    known.set(key, outcome.next)
    winners.set(key, order)
    const ofEvent = changes.get(order.eventId) ?? new Map()
    changes.set(order.eventId, ofEvent)
    addChanges(ofEvent, outcome.changes)
  }

  if (winners.size === 0) return effects
  const { fresh = [], changed = [] } = Object.groupBy(winners.values(), order =>
    stored.has(orderKey(order)) ? 'changed' : 'fresh',
  )
  await storeNewOrders(tx, fresh)
  await storeOrders(tx, changed)
  return storeChanges(tx, shard, { effects, locked, changes })
}
