import type { EventId, Order } from '@tally/contract'
import {
  addChanges,
  applyOrder,
  type CounterChanges,
  getOrInsertComputed,
  type KnownOrder,
  noRefunds,
} from '@tally/core'
import { lockEvents, orderKey, readKnownOrders, storeNewOrders, storeOrders } from '@tally/read-models'
import type { Tx } from '@tally/storage'
import { type Effects, noEffects, type Placed } from '../effects.ts'
import { storeChanges } from './storeChanges.ts'

/** Applies the orders of one batch: one query for all of them, and one write. */
export async function applyOrders(tx: Tx, shard: number, orders: Placed<Order>[]): Promise<Effects> {
  const effects = noEffects()
  const entries = new Map<string, Entry>()
  const placed = orders.map(({ value: order }) => ({ order, entry: entryOf(entries, order) }))
  const eventIds = [...new Set(orders.map(({ value }) => value.eventId))]
  const locked = await lockEvents(tx, eventIds, shard)
  const stored = await readKnownOrders(
    tx,
    Array.from(entries.values(), ({ first }) => first),
  )
  for (const [key, known] of stored) (entries.get(key) as Entry).known = known
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
  for (const [key, { winner }] of entries) {
    if (winner !== undefined) (stored.has(key) ? changed : fresh).push(winner)
  }
  const writes = [storeNewOrders(fresh), storeOrders(changed)]
  return storeChanges(tx, shard, { effects, locked, changes, writes })
}

/** One order of a batch: what is known of it so far, and the batch's record that has won so far. */
type Entry = { first: Order; known: KnownOrder; winner: Order | undefined }

const unknown: KnownOrder = { order: undefined, refunds: noRefunds }

function entryOf(entries: Map<string, Entry>, order: Order): Entry {
  const key = orderKey(order)
  const found = entries.get(key)
  if (found !== undefined) return found
  const entry = { first: order, known: unknown, winner: undefined }
  entries.set(key, entry)
  return entry
}
