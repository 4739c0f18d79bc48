import type { EventId, OrderId, Refund } from '@tally/contract'
import { addChanges, applyRefunds as applyRefundsTo, type CounterChanges, unknownOrder } from '@tally/core'
import {
  type OrderRefunds,
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

    const refunded = new Map<EventId, Map<OrderId, Refund[]>>()
    for (const [eventId, ofEvent] of Map.groupBy(firsts, refund => refund.eventId))
      refunded.set(
        eventId,
        Map.groupBy(ofEvent, refund => refund.orderId),
      )
    const known = await readKnownOrders(tx, refunded)
    const sums: OrderRefunds[] = []
    const changes = new Map<EventId, CounterChanges>()
    for (const [eventId, orders] of refunded) {
      const ofEvent: CounterChanges = new Map()
      changes.set(eventId, ofEvent)
      for (const [orderId, ofOrder] of orders) {
        const outcome = applyRefundsTo(known.get(eventId)?.get(orderId) ?? unknownOrder, ofOrder)
        effects.counts[outcome.outcome] += ofOrder.length
        sums.push({ eventId, orderId, refunds: outcome.next.refunds })
        if (outcome.outcome === 'applied') addChanges(ofEvent, outcome.changes)
      }
    }

    const writes = [storeRefunds(firsts), storeRefundSums(sums)]
    return { ...effects, ...(await storeChanges(tx, events, { changes, writes })) }
  },
)
