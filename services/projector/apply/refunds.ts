import type { EventId, Refund } from '@tally/contract'
import {
  addChanges,
  applyRefund,
  type CounterChanges,
  getOrInsertComputed,
  type KnownOrder,
  noRefunds,
} from '@tally/core'
import {
  lockEvents,
  type OrderRefunds,
  orderKey,
  readKnownOrders,
  readSeenRefunds,
  refundKey,
  storeRefundSums,
  storeRefunds,
  type Tx,
} from '@tally/read-models'
import { type Effects, noEffects, type Placed } from '../effects.ts'
import { storeChanges } from './storeChanges.ts'

/** Applies the refunds of one batch; one that comes before its order is kept with it and waits. */
export async function applyRefunds(tx: Tx, shard: number, refunds: Placed<Refund>[]): Promise<Effects> {
  const effects = noEffects()
  const values = refunds.map(({ value }) => value)
  const locked = await lockEvents(tx, [...new Set(values.map(({ eventId }) => eventId))], shard)
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

  const known: Map<string, KnownOrder> = await readKnownOrders(tx, [
    ...new Map(firsts.map(refund => [orderKey(refund), refund])).values(),
  ])
  const sums = new Map<string, OrderRefunds>()
  const changes = new Map<EventId, CounterChanges>()
  for (const refund of firsts) {
    const key = orderKey(refund)
    const before = known.get(key) ?? { order: undefined, refunds: noRefunds }
    const outcome = applyRefund(before, refund)
    effects.counts[outcome.outcome] += 1
    known.set(key, outcome.next)
    sums.set(key, { eventId: refund.eventId, orderId: refund.orderId, refunds: outcome.next.refunds })
    const ofEvent = getOrInsertComputed(changes, refund.eventId, () => new Map())
    if (outcome.outcome === 'applied') addChanges(ofEvent, outcome.changes)
  }

  const writes = [storeRefunds(firsts), storeRefundSums([...sums.values()])]
  return storeChanges(tx, shard, { effects, locked, changes, writes })
}
