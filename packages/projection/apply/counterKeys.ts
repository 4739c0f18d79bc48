import type { EventId, Order } from '@tally/contract'
import {
  addChanges,
  allAreas,
  type CounterChanges,
  type CounterKey,
  type CounterScope,
  difference,
  factsOf,
  itemsPerBlock,
  noRefunds,
} from '@tally/figures'

/** Tells two counters apart. */
export const counterKeyName = ({ kind, eventId, dayId, areaId, key }: CounterKey): string =>
  `${kind} ${eventId} ${dayId} ${areaId} ${key}`

/** Tells two scopes apart. */
export const scopeName = ({ of, eventId, dayId }: CounterScope): string => `${of} ${eventId} ${dayId}`

/** The limit that each kind of counter takes room of. */
const limitOf = {
  area: 'rows',
  block: 'rows',
  payment: 'rows',
  item: 'items',
  timeBucket: 'timeBuckets',
  paymentMethod: 'paymentMethods',
} as const

/** The scope in which a counter takes room. */
export function scopeOf({ kind, eventId, dayId }: CounterKey): CounterScope {
  const of = limitOf[kind]
  return of === 'rows' ? { of, eventId } : { of, eventId, dayId }
}

/** What an order is counted under, each once: refunds of it are counted under nothing else. */
export function countersOfOrder(order: Order): CounterKey[] {
  const days: CounterChanges = new Map()
  addChanges(days, difference(undefined, factsOf({ order, refunds: noRefunds })))
  return countersOf(order.eventId, days)
}

/** The counters that changes of an event touch, each once. */
export function countersOf(eventId: EventId, days: CounterChanges): CounterKey[] {
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
      const ofArea = [keyOf('area'), ...keysOf('block', blocks), ...keysOf('payment', payments.keys())]
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
