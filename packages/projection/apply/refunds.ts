import type { EventId, Refund } from '@tally/contract'
import {
  addChanges,
  applyRefunds as applyRefundsTo,
  type CounterChanges,
  getOrInsertComputed,
  noRefunds,
} from '@tally/core'
import {
  type OrderRefunds,
  orderKey,
  readKnownOrders,
  readSeenRefunds,
  refundKey,
  storeRefundSums,
  storeRefunds,
} from '@tally/read-models'
import { type Effects, noEffects } from '../effects.ts'
import { withLockedEvents } from './lockedEvents.ts'
import { storeChanges } from './storeChanges.ts'

/** Applies the refunds of one batch; a refund that arrives before its order is parked. */
export const applyRefunds = withLockedEvents<Refund>(
  async (tx, _shard, refunds, events): Promise<Effects> => {
    const effects = noEffects()
    const values = refunds.map(({ value }) => value)
    const seen = await readSeenRefunds(tx, values)
    const firsts: Refund[] = []
    for (const refund of values) {
      if (seen.has(refundKey(refund))) {
        effects.counts.duplicate += 1
      } else {
        seen.add(refundKey(refund))
        firsts.push(refund)
      }
    }
    if (firsts.length === 0) return effects

    const byOrder = Map.groupBy(firsts, orderKey)
    const asked = Map.groupBy(byOrder.values(), ([first]) => (first as Refund).eventId)
    const stored = await readKnownOrders(
      tx,
      new Map(
        [...asked].map(([eventId, orders]) => [eventId, orders.map(([first]) => (first as Refund).orderId)]),
      ),
    )
    const known = new Map(stored.map(order => [orderKey(order), order.known]))
    const sums: OrderRefunds[] = []
    const changes = new Map<EventId, CounterChanges>()
    for (const [key, ofOrder] of byOrder) {
      const [{ eventId, orderId }] = ofOrder as [Refund]
      const outcome = applyRefundsTo(known.get(key) ?? { order: undefined, refunds: noRefunds }, ofOrder)
      effects.counts[outcome.outcome] += ofOrder.length
      sums.push({ eventId, orderId, refunds: outcome.next.refunds })
      const ofEvent = getOrInsertComputed(changes, eventId, () => new Map())
      if (outcome.outcome === 'applied') addChanges(ofEvent, outcome.changes)
    }

    const writes = [storeRefunds(firsts), storeRefundSums(sums)]
    return { ...effects, ...(await storeChanges(tx, events, { changes, writes })) }
  },
)
