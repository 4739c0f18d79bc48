import type { EventId, OrderId, Refund } from '@tally/contract'
import {
  addChanges,
  type CounterChanges,
  type OrderRefunds,
  type RefundChange,
  readKnownOrders,
  readKnownRefunds,
  refundKey,
  storeRefundSums,
  storeRefunds,
  unknownOrder,
} from '@tally/figures'
import {
  addOutcome,
  type Effects,
  noEffects,
  type Placed,
  storeChanges,
  withLockedEvents,
} from '../effects.ts'
import { applyRefund, applyRefundsToOrder, differingField, refundContent } from '../judge/versions.ts'

/** Applies the refunds of a batch; one before its order is parked. Only a refund's last winner changes sums. */
export const applyRefunds = withLockedEvents<Refund>(
  async (tx, _shard, refunds, events): Promise<Effects> => {
    const effects = noEffects()
    const stored = await readKnownRefunds(
      tx,
      refunds.map(({ value }) => value),
    )
    const { winners, placed } = judgeRefunds(effects, refunds, stored)
    if (winners.length === 0) return effects

    const refunded = byOrder(winners)
    const known = await readKnownOrders(tx, refunded)
    const sums: OrderRefunds[] = []
    const changes = new Map<EventId, CounterChanges>()
    for (const [eventId, orders] of refunded) {
      const ofEvent: CounterChanges = new Map()
      changes.set(eventId, ofEvent)
      for (const [orderId, ofOrder] of orders) {
        const changed = ofOrder.map(
          (after): RefundChange => ({ before: stored.get(refundKey(after)), after }),
        )
        const outcome = applyRefundsToOrder(known.get(eventId)?.get(orderId) ?? unknownOrder, changed)
        sums.push({ eventId, orderId, refunds: outcome.next.refunds })
        if (outcome.outcome === 'applied') addChanges(ofEvent, outcome.changes)
      }
    }
    for (const { offset, value } of placed) {
      const isParked = known.get(value.eventId)?.get(value.orderId)?.order === undefined
      addOutcome(effects, offset, { outcome: isParked ? 'parked' : 'applied' })
    }

    const areSomeStored = winners.some(refund => stored.has(refundKey(refund)))
    const writes = [storeRefunds(winners, { areSomeStored }), storeRefundSums(sums)]
    return { ...effects, ...(await storeChanges(tx, events, { changes, writes })) }
  },
)

/** Judges each record by what is stored and by those before it; returns each refund's last winner, and all of them. */
function judgeRefunds(effects: Effects, refunds: Placed<Refund>[], stored: ReadonlyMap<string, Refund>) {
  const winners = new Map<string, Refund>()
  const placed: Placed<Refund>[] = []
  for (const one of refunds) {
    const key = refundKey(one.value)
    const known = winners.get(key) ?? stored.get(key)
    const outcome = applyRefund(
      known,
      one.value,
      () => known && differingField(refundContent(known), refundContent(one.value)),
    )
    if (outcome.outcome === 'applied') {
      winners.set(key, one.value)
      placed.push(one)
    } else addOutcome(effects, one.offset, outcome)
  }
  return { winners: [...winners.values()], placed }
}

function byOrder(refunds: Refund[]): Map<EventId, Map<OrderId, Refund[]>> {
  const byEvent = new Map<EventId, Map<OrderId, Refund[]>>()
  for (const [eventId, ofEvent] of Map.groupBy(refunds, refund => refund.eventId))
    byEvent.set(
      eventId,
      Map.groupBy(ofEvent, refund => refund.orderId),
    )
  return byEvent
}
