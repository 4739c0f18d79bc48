import type { EventId, Order, Rejected } from '@tally/contract'
import { allAreas, factsOf, getOrInsertComputed, noRefunds, type OrderFacts } from '@tally/core'
import { type CounterKey, type CounterScope, hasCounters, itemsPerBlock } from '@tally/read-models'
import type { Tx } from '@tally/storage'
import { EventRoom, scopeName } from './room.ts'

/**
 * Rejects an order that would make more counters of its event than the limits allow; undefined: it may be applied.
 */
export type Admit = (order: Order) => Rejected | undefined

/** Of events that have enough room, which are nearly all. */
export const admitAll: Admit = () => undefined

/**
 * Admits orders of events that may not have enough room, one after the other in the order of the batch: what they
 * make takes room, what is there does not. Room that an order takes which loses to a later version is not given back.
 */
export async function openAdmission(
  tx: Tx,
  { room, events, orders }: { room: EventRoom; events: ReadonlySet<EventId>; orders: Order[] },
): Promise<Admit> {
  const keys = new Map<string, CounterKey>()
  const scopes = new Map<string, CounterScope>()
  for (const order of orders.filter(({ eventId }) => events.has(eventId))) {
    for (const key of countersOf(order)) keys.set(nameOf(key), key)
    for (const scope of limits.map(of => scopeFor(of, order))) scopes.set(scopeName(scope), scope)
  }
  const isStored = await hasCounters(tx, [...keys.values()])
  // Of versions that lose, too; and in a room of its own, which other transactions do not touch meanwhile.
  const own = new EventRoom(room.limits)
  await own.count(tx, [...scopes.values()])
  const there = new Set([...keys.keys()].filter((_, index) => isStored[index]))

  return order => {
    if (!events.has(order.eventId)) return undefined
    const made = countersOf(order).filter(key => !there.has(nameOf(key)))
    const needs = new Map<CounterScope['of'], CounterKey[]>()
    for (const key of made) getOrInsertComputed(needs, limitOf[key.kind], () => []).push(key)
    for (const [of, { length }] of needs)
      if (own.left(scopeFor(of, order)) < length) return tooMany(of, order, room.limits[of])
    for (const [of, { length }] of needs) {
      own.use(scopeFor(of, order), length)
      room.use(scopeFor(of, order), length)
    }
    for (const key of made) there.add(nameOf(key))
    return undefined
  }
}

const limits = ['rows', 'items', 'timeBuckets'] as const
/** The limit that each kind of counter takes room of. */
const limitOf = { area: 'rows', block: 'rows', item: 'items', timeBucket: 'timeBuckets' } as const

const scopeFor = (of: CounterScope['of'], { eventId, dayId }: Order): CounterScope =>
  of === 'rows' ? { of, eventId } : { of, eventId, dayId }

const nameOf = ({ kind, eventId, dayId, areaId, number }: CounterKey): string =>
  `${kind} ${eventId} ${dayId} ${areaId} ${number}`

/** What an order is counted under, each once: refunds of it are counted under nothing else. */
function countersOf(order: Order): CounterKey[] {
  const { confirmed, bucket, items } = factsOf({ order, refunds: noRefunds }) as OrderFacts
  const key = (kind: CounterKey['kind'], areaId: number, number = 0): CounterKey => ({
    kind,
    eventId: order.eventId,
    dayId: order.dayId,
    areaId,
    number,
  })
  const areas = [order.areaId, allAreas]
  const blocks = new Set(items.map(({ menuItemId }) => Math.floor(menuItemId / itemsPerBlock)))
  return [
    ...areas.map(areaId => key('area', areaId)),
    ...areas.flatMap(areaId => Array.from(blocks, block => key('block', areaId, block))),
    ...items.map(({ menuItemId }) => key('item', allAreas, menuItemId)),
    ...(confirmed ? [key('timeBucket', allAreas, bucket)] : []),
  ]
}

const limitNames = {
  rows: 'combinations of day, area and menu items',
  items: 'menu items on its day',
  timeBuckets: 'quarter hours on its day',
}

function tooMany(of: CounterScope['of'], { dayId }: Order, limit: number): Rejected {
  return {
    outcome: 'rejected',
    reason: 'too-many',
    message: `with this order the event would have more than ${limit.toLocaleString('en')} ${limitNames[of]} (dayId ${dayId}). Check the ids and times that the till sends`,
  }
}
