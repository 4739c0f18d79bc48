import type { TestRecord } from '@tally/testkit/processes/tally'
import type { Raw } from './book.ts'
import {
  countAgain,
  mayShow,
  newOrder,
  noteRecord,
  type OrderJournal,
  rangeOf,
  type Total,
  totals,
} from './shares.ts'

/**
 * What has been sent of each event and when Kafka acknowledged it, so that an answer can be checked against its own
 * `asOf`: it must contain what was acknowledged before, must not contain what was sent after the answer, and may
 * contain any part of the rest. Times are epoch milliseconds of this machine's clock.
 */
export type Journal = {
  /** Notes that Kafka may have these records from now on; returns a function to call once it has acknowledged them. */
  send: (records: TestRecord[]) => (atMs: number) => void
  /** The range that an answer with `asOfMs` may give now for a total of an event's day, or of all days. */
  bounds: (eventId: string, asOfMs: number, total: Total, dayId?: number) => { least: number; most: number }
  /** How many orders are between the two. */
  unsure: (eventId: string, asOfMs: number) => number
  /** When the last record of an event was acknowledged; infinity while one is unacknowledged. */
  settledMs: (eventId: string) => number
  /** Up to `most` of the orders that were acknowledged last before a time. */
  ordersBefore: (eventId: string, atMs: number, most: number) => string[]
  /** Whether an answer with `asOfMs` may now show an order in this state. */
  mayShow: (eventId: string, orderId: string, asOfMs: number, shown: Raw) => boolean
}

type Acknowledged = { orderId: string; ackMs: number }
type EventJournal = {
  orders: Map<string, OrderJournal>
  /** Orders by the time at which one of their records was acknowledged. */
  acknowledged: Acknowledged[]
  /** A mark for each unacknowledged record, with its order. */
  open: Set<{ orderId: string }>
  lastAckMs: number
  /** Sums over everything acknowledged, by total and day. */
  totals: Map<string, number>
}

export function openJournal(): Journal {
  const events = new Map<string, EventJournal>()
  const of = (eventId: string) => getOrAdd(events, eventId, newEvent)

  const sendOne = ({ type, value }: TestRecord) => {
    const event = of(value.eventId)
    const mark = { orderId: String(value.orderId) }
    event.open.add(mark)
    const order = type === 'events' ? undefined : getOrAdd(event.orders, mark.orderId, newOrder)
    const entry = order && noteRecord(order, type as 'orders' | 'refunds', value)
    return (atMs: number) => {
      event.open.delete(mark)
      event.lastAckMs = Math.max(event.lastAckMs, atMs)
      if (order === undefined || entry === undefined) return
      entry.ackMs = Math.min(entry.ackMs, atMs)
      event.acknowledged.push({ orderId: mark.orderId, ackMs: atMs })
      addTo(event, order, -1)
      countAgain(order)
      addTo(event, order, 1)
    }
  }

  return {
    send(records) {
      const notes = records.filter(({ type }) => type !== 'organizations').map(sendOne)
      return atMs => {
        for (const note of notes) note(atMs)
      }
    },
    bounds(eventId, asOfMs, total, dayId) {
      const event = of(eventId)
      let least = event.totals.get(keyOf(total, dayId)) ?? 0
      let most = least
      for (const order of unsureOf(event, asOfMs)) {
        const known = dayId === undefined || order.dayId === dayId ? order.share[total] : 0
        const [low, high] = rangeOf(order, asOfMs, total, dayId)
        least += low - known
        most += high - known
      }
      return { least, most }
    },
    unsure: (eventId, asOfMs) => unsureOf(of(eventId), asOfMs).size,
    settledMs(eventId) {
      const { open, lastAckMs } = of(eventId)
      return open.size > 0 ? Number.POSITIVE_INFINITY : lastAckMs
    },
    ordersBefore(eventId, atMs, most) {
      const { acknowledged, orders } = of(eventId)
      const isThere = (orderId: string) => orders.get(orderId)?.versions.some(({ ackMs }) => ackMs < atMs)
      const found = acknowledged
        .slice(-1_000)
        .filter(({ orderId, ackMs }) => ackMs < atMs && isThere(orderId))
      return found.slice(-most).map(({ orderId }) => orderId)
    },
    mayShow(eventId, orderId, asOfMs, shown) {
      const order = of(eventId).orders.get(orderId)
      return order !== undefined && mayShow(order, asOfMs, shown)
    },
  }
}

const newEvent = (): EventJournal => ({
  orders: new Map(),
  acknowledged: [],
  open: new Set(),
  lastAckMs: 0,
  totals: new Map(),
})

/** Orders of which a record was not acknowledged before `asOfMs`. */
function unsureOf({ orders, acknowledged, open }: EventJournal, asOfMs: number): Set<OrderJournal> {
  const first = 1 + acknowledged.findLastIndex(({ ackMs }) => ackMs < asOfMs)
  const ids = [...acknowledged.slice(first), ...open].map(({ orderId }) => orderId)
  return new Set(ids.flatMap(orderId => orders.get(orderId) ?? []))
}

function addTo(event: EventJournal, { dayId, share }: OrderJournal, sign: 1 | -1): void {
  if (dayId === undefined) return
  for (const total of totals) {
    for (const key of [keyOf(total), keyOf(total, dayId)])
      event.totals.set(key, (event.totals.get(key) ?? 0) + sign * share[total])
  }
}

const keyOf = (total: Total, dayId?: number) => `${total} ${dayId ?? 'all'}`

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
