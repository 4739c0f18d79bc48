import type { EventId, Order, OrderId, Rejected } from '@tally/contract'
import {
  addChanges,
  type CounterChanges,
  getOrInsertComputed,
  type KnownOrder,
  lockEvents,
  readKnownOrders,
  readStoredOrders,
  storeNewOrders,
  storeOrders,
  unknownOrder,
} from '@tally/figures'
import type { Tx } from '@tally/platform'
import {
  addOutcome,
  type Effects,
  noEffects,
  type ShardPart,
  storeChanges,
  withoutRemoved,
} from '../effects.ts'
import { applyOrder, differingField, isNewer, judgeRepeat, orderContent } from '../judge/versions.ts'
import { type Admit, createAdmission } from './admission.ts'
import type { EventRoom } from './room.ts'

/**
 * Applies the orders of one batch, or of several batches of different partitions: one query for all of them, and one
 * write. Returns the effects of each. Only an order's last winner changes counters: those of an earlier version would
 * be added only to be subtracted again. Orders of removed events (`tally events remove`) are ignored, and counted as
 * such; orders that would make more counters than an event may have are rejected (`room`). Throws a
 * NotTogetherError before anything is written if several batches have orders of one event or a rejected record.
 */
export async function applyOrders(tx: Tx, parts: ShardPart<Order>[], room: EventRoom): Promise<Effects[]> {
  const shardOf = shardsOf(parts)
  if (shardOf.size === 0) return parts.map(noEffects)
  const locked = await lockEvents(tx, shardOf)
  const entries: Entries = new Map()
  const placed = parts.map(({ records }) => {
    const kept = withoutRemoved(records, locked)
    const orders = kept.map(({ offset, value }) => ({ offset, order: value, entry: entryOf(entries, value) }))
    return { orders, ignored: records.length - kept.length }
  })
  for (const [eventId, ofEvent] of entries.size === 0 ? [] : await readKnownOrders(tx, entries)) {
    for (const [orderId, known] of ofEvent) {
      const entry = entries.get(eventId)?.get(orderId) as Entry
      entry.isStored = true
      entry.known = known
    }
  }
  await readApplied(tx, placed)

  let all = judgeOrders(placed, () => undefined)
  let winners = winnersOf(entries)
  const orders = () => placed.flatMap(part => part.orders.map(({ order }) => order))
  const batch = { room, locked, changes: winners.changes, orders, entries }
  const { admit, store } = await createAdmission(tx, batch)
  if (admit !== undefined) {
    all = judgeOrders(placed, admit)
    winners = winnersOf(entries)
  }
  // A dead letter waits for Kafka; the batches of other partitions should not (docs/architecture.md, invariant 8).
  if (parts.length > 1 && all.some(({ rejected }) => rejected.length > 0))
    throw new NotTogetherError('a record is rejected')

  const { changes, fresh, changed } = winners
  if (changes.size === 0) return all
  const writes = [storeNewOrders(fresh), storeOrders(changed)]
  const { revision, events } = await store(changes, () =>
    storeChanges(tx, { shardOf, locked }, { changes, writes }),
  )
  return all.map((effects, index) => {
    const { shard } = parts[index] as ShardPart<Order>
    const ofPart = new Map([...events].filter(([id]) => shardOf.get(id) === shard))
    return ofPart.size === 0 ? effects : { ...effects, events: ofPart, revision }
  })
}

/** The outcome of each record; keeps in its entry the record of each order that wins. */
function judgeOrders(placed: PlacedOrders[], admit: Admit): Effects[] {
  for (const { orders } of placed) for (const { entry } of orders) entry.winner = undefined
  return placed.map(({ orders, ignored }) => {
    const effects = noEffects()
    effects.counts.ignored = ignored
    for (const { offset, order, entry } of orders)
      addOutcome(effects, offset, judgeOrder(entry, order, admit))
    return effects
  })
}

/** Judges a record by what is known of its order, and by the batch's records before it; keeps it if it wins. */
function judgeOrder(
  entry: Entry,
  order: Order,
  admit: Admit,
): { outcome: 'applied' | 'duplicate' } | Rejected {
  const known = entry.winner ?? entry.known.order
  if (known === undefined || isNewer(known, order)) {
    const rejected = admit(order)
    if (rejected === undefined) entry.winner = order
    return rejected ?? applied
  }
  const kept = entry.winner ?? entry.applied
  return judgeRepeat(known, order, () => kept && differingField(orderContent(kept), orderContent(order)))
}

/**
 * What the winners change, and those whose order is stored already (`changed`) or not (`fresh`); event by event, so
 * that neighbours in an index are written one after the other.
 */
function winnersOf(entries: Entries): {
  changes: Map<EventId, CounterChanges>
  fresh: Order[]
  changed: Order[]
} {
  const changes = new Map<EventId, CounterChanges>()
  const fresh: Order[] = []
  const changed: Order[] = []
  for (const [eventId, ofEvent] of entries) {
    for (const { winner, known, isStored } of ofEvent.values()) {
      if (winner === undefined) continue
      const outcome = applyOrder(known, winner)
      if (outcome.outcome === 'duplicate') continue
      const ofEvent = getOrInsertComputed(changes, eventId, () => new Map())
      addChanges(ofEvent, outcome.changes)
      if (isStored) changed.push(winner)
      else fresh.push(winner)
    }
  }
  return { changes, fresh, changed }
}

const applied = { outcome: 'applied' } as const

/** Reads the applied records of orders that come with their applied version: only these are compared in full. */
async function readApplied(tx: Tx, placed: PlacedOrders[]): Promise<void> {
  const repeated: Entries = new Map()
  for (const { orders } of placed)
    for (const { order, entry } of orders)
      if (entry.known.order?.version === order.version)
        getOrInsertComputed(repeated, order.eventId, () => new Map<OrderId, Entry>()).set(
          order.orderId,
          entry,
        )
  if (repeated.size === 0) return
  for (const [eventId, ofEvent] of await readStoredOrders(tx, repeated))
    for (const [orderId, order] of ofEvent) (repeated.get(eventId)?.get(orderId) as Entry).applied = order
}

/** The shard in which the orders of each event lie. */
function shardsOf(parts: ShardPart<Order>[]): Map<EventId, number> {
  const shardOf = new Map<EventId, number>()
  for (const { shard, records } of parts) {
    for (const { value } of records) {
      if ((shardOf.get(value.eventId) ?? shard) !== shard)
        throw new NotTogetherError('several partitions have orders of one event')
      shardOf.set(value.eventId, shard)
    }
  }
  return shardOf
}

/** Batches of several partitions that cannot be applied together; each has to be applied by itself. */
class NotTogetherError extends Error {
  override name = 'NotTogetherError'
}

/**
 * One order of a batch: what is known of it from before, its applied record if one of the batch repeats its version,
 * and the batch's record that has won so far.
 */
type Entry = {
  known: KnownOrder
  isStored: boolean
  applied: Order | undefined
  winner: Order | undefined
}

/** The orders of one part; `ignored`: how many records of it are of removed events. */
type PlacedOrders = { orders: { offset: number; order: Order; entry: Entry }[]; ignored: number }

/** The orders of a batch, each once. A map per event: one by a joined key costs a new text and its hash per record. */
type Entries = Map<EventId, Map<OrderId, Entry>>

function entryOf(entries: Entries, { eventId, orderId }: Order): Entry {
  const ofEvent = getOrInsertComputed(entries, eventId, () => new Map<OrderId, Entry>())
  return getOrInsertComputed(ofEvent, orderId, () => ({
    known: unknownOrder,
    isStored: false,
    applied: undefined,
    winner: undefined,
  }))
}
