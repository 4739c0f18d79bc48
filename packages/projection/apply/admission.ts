import type { EventId, Order, OrderId, Rejected } from '@tally/contract'
import {
  addChanges,
  allAreas,
  type CounterChanges,
  type CounterKey,
  type CounterScope,
  difference,
  hasCounters,
  itemsPerBlock,
  type LockedEvent,
  noRefunds,
  readStoredOrders,
  unknownOrder,
} from '@tally/figures'
import type { Tx } from '@tally/platform'
import { differingField, orderContent } from '../judge/versions.ts'
import { type EventRoom, scopeName } from './room.ts'

/** Rejects an order that would make more counters of its event than the limits allow; undefined: it may be applied. */
export type Admit = (order: Order) => Rejected | undefined

/** `admit` is undefined if all orders may be applied. `store` lets `write` store the changes of those that may. */
type Admission = {
  admit: Admit | undefined
  store<Stored>(changes: Changes, write: () => Promise<Stored>): Promise<Stored>
}
type Changes = ReadonlyMap<EventId, CounterChanges>

/**
 * Admits all orders of an event if what the winners of the batch change in it has room. Otherwise they are admitted one
 * after the other in the order of the batch: what they create takes room, what exists does not. Room that an order
 * takes which loses to a later version is not given back. An order that the tables of `room.live` hold with the same
 * content is admitted even without room.
 */
export async function createAdmission(
  tx: Tx,
  batch: {
    room: EventRoom
    locked: ReadonlyMap<EventId, LockedEvent>
    changes: Changes
    orders: () => Order[]
    entries: ReadonlyMap<EventId, ReadonlyMap<OrderId, unknown>>
  },
): Promise<Admission> {
  const { room, changes } = batch
  const near = await room.reserve(tx, batch.locked, changes)
  if (near.size === 0) return { admit: undefined, store: (_, write) => write() }

  const touched = (all: Changes) =>
    [...all].flatMap(([id, days]) => (near.has(id) ? countersOf(id, days) : []))
  // Of versions that lose, too.
  const orders = batch.orders().filter(({ eventId }) => near.has(eventId))
  const all = [...touched(changes), ...orders.flatMap(countersOfOrder)]
  const keys = new Map(all.map(key => [counterKeyName(key), key]))
  const isStored = await hasCounters(tx, [...keys.values()])
  const stored = new Set([...keys.keys()].filter((_, index) => isStored[index]))
  const existing = new Set(stored)
  const missing = (keys: Iterable<CounterKey>) => [...keys].filter(key => !existing.has(counterKeyName(key)))
  const remaining = await room.remaining(tx, missing(keys.values()).map(scopeOf))

  /** The limit that all of these together would exceed. */
  const exceededBy = (created: CounterKey[]): CounterScope['of'] | undefined => {
    for (const [name, needed] of Map.groupBy(created.map(scopeOf), scopeName))
      if ((remaining.get(name) as number) < needed.length) return needed[0]?.of
    return undefined
  }
  const isFull = (id: EventId) =>
    exceededBy(missing(countersOf(id, changes.get(id) as CounterChanges))) !== undefined
  const full = new Set([...near].filter(isFull))
  const inFull = new Map([...batch.entries].filter(([id]) => full.has(id)))
  const kept = room.live && full.size > 0 ? await readStoredOrders(room.live, inFull) : undefined
  /** Its version is not enough: an order that was rejected may have been corrected without a new one. */
  const isKept = (order: Order) => {
    const live = kept?.get(order.eventId)?.get(order.orderId)
    if (live?.version !== order.version) return false
    return differingField(orderContent(live), orderContent(order)) === undefined
  }

  const admit: Admit = order => {
    if (!full.has(order.eventId)) return undefined
    const created = missing(countersOfOrder(order))
    const of = exceededBy(created)
    if (of !== undefined && !isKept(order)) return tooMany(of, room.limits[of])
    for (const key of created) {
      const name = scopeName(scopeOf(key))
      remaining.set(name, (remaining.get(name) as number) - 1)
      existing.add(counterKeyName(key))
    }
    return undefined
  }
  return {
    admit: full.size === 0 ? undefined : admit,
    async store(stores, write) {
      const result = await write()
      const counters = touched(stores)
      const areThere = await hasCounters(tx, counters)
      for (const [index, key] of counters.entries())
        room.consume(scopeOf(key), Number(areThere[index]) - Number(stored.has(counterKeyName(key))))
      return result
    },
  }
}

const limitNames = {
  rows: 'combinations of day, area, menu items and payment methods',
  items: 'menu items on its day',
  timeBuckets: 'quarter hours on its day',
  paymentMethods: 'payment methods on its day',
}

function tooMany(of: CounterScope['of'], limit: number): Rejected {
  return {
    outcome: 'rejected',
    reason: 'too-many',
    message: `with this order the event would have more than ${limit.toLocaleString('en')} ${limitNames[of]}. Check the ids, times and payment methods that the till sends`,
  }
}

/** Tells two counters apart. */
const counterKeyName = ({ kind, eventId, dayId, areaId, key }: CounterKey): string =>
  `${kind} ${eventId} ${dayId} ${areaId} ${key}`

/** The limit that each kind of counter takes room of. */
const limitOf = {
  areaRow: 'rows',
  blockRow: 'rows',
  paymentRow: 'rows',
  item: 'items',
  timeBucket: 'timeBuckets',
  paymentMethod: 'paymentMethods',
} as const

/** The scope in which a counter takes room. */
function scopeOf({ kind, eventId, dayId }: CounterKey): CounterScope {
  const of = limitOf[kind]
  return of === 'rows' ? { of, eventId } : { of, eventId, dayId }
}

/** What an order is counted under, each once: refunds of it are counted under nothing else. */
function countersOfOrder(order: Order): CounterKey[] {
  const days: CounterChanges = new Map()
  addChanges(days, difference(unknownOrder, { order, refunds: noRefunds }))
  return countersOf(order.eventId, days)
}

/** The counters that changes of an event touch, each once. */
function countersOf(eventId: EventId, days: CounterChanges): CounterKey[] {
  return [...days].flatMap(([dayId, areas]) =>
    [...areas].flatMap(([areaId, { items, hourly, payments }]) => {
      const keyOf = (kind: CounterKey['kind'], key: CounterKey['key'] = 0): CounterKey => ({
        kind,
        eventId,
        dayId,
        areaId,
        key,
      })
      const keysOf = (kind: CounterKey['kind'], keys: Iterable<CounterKey['key']>) =>
        Array.from(keys, key => keyOf(kind, key))
      const blocks = new Set(Array.from(items.keys(), item => Math.floor(item / itemsPerBlock)))
      const ofArea = [
        keyOf('areaRow'),
        ...keysOf('blockRow', blocks),
        ...keysOf('paymentRow', payments.keys()),
      ]
      if (areaId !== allAreas) return ofArea
      return [
        ...ofArea,
        ...keysOf('item', items.keys()),
        ...keysOf('timeBucket', hourly.keys()),
        ...keysOf('paymentMethod', payments.keys()),
      ]
    }),
  )
}
