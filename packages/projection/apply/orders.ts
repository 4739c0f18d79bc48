import type { EventId, Order, OrderId } from '@tally/contract'
import {
  addChanges,
  applyOrder,
  type CounterChanges,
  getOrInsertComputed,
  isNewer,
  type KnownOrder,
  noRefunds,
} from '@tally/core'
import { readKnownOrders, storeNewOrders, storeOrders } from '@tally/read-models'
import { type Effects, noEffects } from '../effects.ts'
import { withLockedEvents } from './lockedEvents.ts'
import { storeChanges } from './storeChanges.ts'

/**
 * Applies the orders of one batch: one query for all of them, and one write. Only an order's last winner in the batch
 * changes counters: those of an earlier version would be added only to be subtracted again.
 */
export const applyOrders = withLockedEvents<Order>(async (tx, shard, orders, locked): Promise<Effects> => {
  const effects = noEffects()
  const entries = openEntries()
  const placed = orders.map(({ value: order }) => ({ order, entry: entries.of(order) }))
  const stored = await readKnownOrders(
    tx,
    entries.all.map(({ first }) => first),
  )
  for (const [index, known] of stored.entries()) {
    const entry = entries.all[index] as Entry
    entry.isStored = known !== undefined
    if (known !== undefined) entry.known = known
  }
  for (const { order, entry } of placed) {
    const applies = isNewer(entry.winner ?? entry.known.order, order)
    if (applies) entry.winner = order
    effects.counts[applies ? 'applied' : 'duplicate'] += 1
  }

  const changes = new Map<EventId, CounterChanges>()
  const fresh: Order[] = []
  const changed: Order[] = []
  for (const { winner, known, isStored } of entries.all) {
    if (winner === undefined) continue
    const outcome = applyOrder(known, winner)
    if (outcome.outcome === 'duplicate') continue
    addChanges(
      getOrInsertComputed(changes, winner.eventId, () => new Map()),
      outcome.changes,
    )
    if (isStored) changed.push(winner)
    else fresh.push(winner)
  }

  if (changes.size === 0) return effects
  const writes = [storeNewOrders(fresh), storeOrders(changed)]
  return storeChanges(tx, shard, { effects, locked, changes, writes })
})

/** One order of a batch: what is known of it from before, and the batch's record that has won so far. */
type Entry = { first: Order; known: KnownOrder; isStored: boolean; winner: Order | undefined }

const unknown: KnownOrder = { order: undefined, refunds: noRefunds }

/** The orders of a batch, each once. A map per event: one by a joined key costs a new text and its hash per record. */
function openEntries() {
  const all: Entry[] = []
  const byEvent = new Map<EventId, Map<OrderId, Entry>>()
  return {
    all,
    of(order: Order): Entry {
      const ofEvent = getOrInsertComputed(byEvent, order.eventId, () => new Map<OrderId, Entry>())
      const found = ofEvent.get(order.orderId)
      if (found !== undefined) return found
      const entry = { first: order, known: unknown, isStored: false, winner: undefined }
      ofEvent.set(order.orderId, entry)
      all.push(entry)
      return entry
    },
  }
}
