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
import { lockEvents, readKnownOrders, storeNewOrders, storeOrders } from '@tally/read-models'
import type { Tx } from '@tally/storage'
import { type Effects, noEffects, type Part } from '../effects.ts'
import { withoutRemoved } from './lockedEvents.ts'
import { storeChanges } from './storeChanges.ts'

/**
 * Applies the orders of one batch, or of several batches of different partitions: one query for all of them, and one
 * write. Returns the effects of each. Only an order's last winner changes counters: those of an earlier version would
 * be added only to be subtracted again. Orders of removed events (`tally events remove`) are ignored, and counted as
 * such. Throws SeveralShardsError, before anything is written, if batches of different partitions have orders of the
 * same event.
 */
export async function applyOrders(tx: Tx, parts: Part<Order>[]): Promise<Effects[]> {
  const shardOf = shardsOf(parts)
  if (shardOf.size === 0) return parts.map(noEffects)
  const locked = await lockEvents(tx, shardOf)
  const entries = openEntries()
  const placed = parts.map(({ records }) => {
    const kept = withoutRemoved(records, locked)
    const effects = noEffects()
    effects.counts.ignored = records.length - kept.length
    return { effects, orders: kept.map(({ value: order }) => ({ order, entry: entries.of(order) })) }
  })
  const all = placed.map(({ effects }) => effects)
  if (entries.all.length === 0) return all

  const stored = await readKnownOrders(
    tx,
    entries.all.map(({ first }) => first),
  )
  for (const [index, known] of stored.entries()) {
    const entry = entries.all[index] as Entry
    entry.isStored = known !== undefined
    if (known !== undefined) entry.known = known
  }
  for (const { effects, orders } of placed) {
    for (const { order, entry } of orders) {
      const applies = isNewer(entry.winner ?? entry.known.order, order)
      if (applies) entry.winner = order
      effects.counts[applies ? 'applied' : 'duplicate'] += 1
    }
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

  if (changes.size === 0) return all
  const writes = [storeNewOrders(fresh), storeOrders(changed)]
  const { revision, events } = await storeChanges(tx, { shardOf, locked }, { changes, writes })
  return all.map((effects, index) => {
    const { shard } = parts[index] as Part<Order>
    const ofPart = new Map([...events].filter(([id]) => shardOf.get(id) === shard))
    return ofPart.size === 0 ? effects : { ...effects, events: ofPart, revision }
  })
}

/** The shard in which the orders of each event lie. */
function shardsOf(parts: Part<Order>[]): Map<EventId, number> {
  const shardOf = new Map<EventId, number>()
  for (const { shard, records } of parts) {
    for (const { value } of records) {
      if ((shardOf.get(value.eventId) ?? shard) !== shard) throw new SeveralShardsError()
      shardOf.set(value.eventId, shard)
    }
  }
  return shardOf
}

class SeveralShardsError extends Error {
  override name = 'SeveralShardsError'
  constructor() {
    super('an event has orders in several of the partitions that were to be applied together')
  }
}

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
