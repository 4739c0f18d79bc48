import type { EventId, Order, OrderId } from '@tally/contract'
import {
  addChanges,
  applyOrder,
  type CounterChanges,
  getOrInsertComputed,
  type KnownOrder,
  noRefunds,
} from '@tally/core'
import { readKnownOrders, storeNewOrders, storeOrders } from '@tally/read-models'
import { type Effects, noEffects } from '../effects.ts'
import { withLockedEvents } from './lockedEvents.ts'
import { storeChanges } from './storeChanges.ts'

/** Applies the orders of one batch: one query for all of them, and one write. */
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
  const changes = new Map<EventId, CounterChanges>()

  for (const { order, entry } of placed) {
    const outcome = applyOrder(entry.known, order)
    effects.counts[outcome.outcome] += 1
    if (outcome.outcome !== 'applied') continue
    entry.known = outcome.next
    entry.winner = order
    addChanges(
      getOrInsertComputed(changes, order.eventId, () => new Map()),
      outcome.changes,
    )
  }

  if (changes.size === 0) return effects
  const fresh: Order[] = []
  const changed: Order[] = []
  for (const { winner, isStored } of entries.all) {
    if (winner !== undefined) (isStored ? changed : fresh).push(winner)
  }
  const writes = [storeNewOrders(fresh), storeOrders(changed)]
  return storeChanges(tx, shard, { effects, locked, changes, writes })
})

/** One order of a batch: what is known of it so far, and the batch's record that has won so far. */
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
