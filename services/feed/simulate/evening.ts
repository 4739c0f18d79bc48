import TinyQueue from 'tinyqueue'
import { festivals } from '../festivals/index.ts'
import type { FeedRecord, FeedTopic } from '../record.ts'
import { arrivals } from './arrivals.ts'
import { cupsIn } from './bill.ts'
import { eventRecord, type FestivalDay, festivalDay, type Run } from './calendar.ts'
import { isSold, orderRecord, type PlacedOrder, placeOrder } from './order.ts'
import { type Random, randomFrom } from './random.ts'
import { type GivenBack, refundOf, refundRecord } from './refund.ts'

/** `evening` counts from 0. */
export type Evening = Run & { evening: number }

/** An entry of the queue: a record that is ready, a guest who is about to order, or cups that guests have emptied. */
type Coming =
  | { kind: 'record'; topic: FeedTopic; key: string; value: string }
  | { kind: 'guest'; stall: Stall }
  | { kind: 'cups'; stall: Stall; cups: number }
type Stall = {
  day: FestivalDay
  random: Random
  guests: Iterator<number>
  numbers: Map<number, number>
  refunds: number
  emptyCups: number
}

/** The share of records that are repeated, and of refunds that overtake their order. */
const repeated = 0.004
const overtaken = 0.12
/** The share of cups that go home with their guests. */
const keptCups = 0.15

/**
 * All records of one evening over all festivals, in the order of their own time. Only what is open at one
 * time is in memory: a guest's order is generated when the guest arrives.
 */
export function* simulateEvening(evening: Evening): Generator<FeedRecord> {
  const queue = emptyQueue()
  for (const [index, festival] of festivals.entries()) {
    const day = festivalDay(festival, evening, evening.evening)
    const random = randomFrom(`orders ${day.eventId} ${evening.evening}`)
    const guests = arrivals(day, ordersOf(index, evening.orders), random)
    addRecord(queue, day.opensMs, 'events', day, eventRecord(festival, evening, evening.evening, 'open'))
    addNextGuest(queue, { day, random, guests, numbers: new Map(), refunds: 0, emptyCups: 0 })
    // No order is sent after closesMs: a second later, the closed day follows everything sold on it.
    addRecord(
      queue,
      day.closesMs + 1000,
      'events',
      day,
      eventRecord(festival, evening, evening.evening, 'closed'),
    )
  }
  for (let next = queue.take(); next !== undefined; next = queue.take()) {
    const { atMs, entry } = next
    if (entry.kind === 'record') {
      yield { atMs, topic: entry.topic, key: entry.key, value: entry.value }
    } else if (entry.kind === 'cups') {
      entry.stall.emptyCups += entry.cups
    } else {
      serveGuest(queue, entry.stall, atMs)
      addNextGuest(queue, entry.stall)
    }
  }
}

type Queue = ReturnType<typeof emptyQueue>

/** A heap of entries sorted by time; those of the same time leave in the order they were added. */
function emptyQueue() {
  type Node = { atMs: number; order: number; entry: Coming }
  const heap = new TinyQueue<Node>([], (a, b) => a.atMs - b.atMs || a.order - b.order)
  let added = 0
  return {
    add: (atMs: number, entry: Coming) => heap.push({ atMs, order: added++, entry }),
    /** Removes the earliest entry; undefined if the queue is empty. */
    take: () => heap.pop(),
  }
}

/** How many of an evening's orders a festival gets: by weight, and together exactly all of them. */
function ordersOf(index: number, orders: number): number {
  const total = festivals.reduce((sum, { weight }) => sum + weight, 0)
  const upTo = (count: number) =>
    Math.round((orders * festivals.slice(0, count).reduce((sum, { weight }) => sum + weight, 0)) / total)
  return upTo(index + 1) - upTo(index)
}

function addNextGuest(queue: Queue, stall: Stall) {
  const next = stall.guests.next()
  if (next.done !== true) queue.add(next.value, { kind: 'guest', stall })
}

/** Generates the order and queues all records about it. */
function serveGuest(queue: Queue, stall: Stall, atMs: number) {
  const { day, random, numbers } = stall
  const area = random.pick(day.festival.areas)
  const number = (numbers.get(area.areaId) ?? 0) + 1
  numbers.set(area.areaId, number)
  const order = placeOrder({ day, area, number, atMs, emptyCups: stall.emptyCups }, random)
  stall.emptyCups -= order.cupsBack
  const given = refundOf(day, order, random)
  if (isSold(order.steps) && given?.isWholeOrder !== true) lendCups(queue, stall, order)
  const heldUntilMs = given === null ? 0 : addRefund(queue, stall, order, given)
  for (const [index, step] of order.steps.entries()) {
    const sentMs = Math.min(Math.max(step.atMs, heldUntilMs), day.closesMs)
    send(queue, sentMs, 'orders', stall, orderRecord(day, order, index))
  }
}

/** Guests drink for a while before their cups may come back; some cups never do. */
function lendCups(queue: Queue, stall: Stall, order: PlacedOrder) {
  const { day, random } = stall
  const lent = cupsIn(day.festival, order.basket)
  if (lent === 0) return
  const cups = Array.from({ length: lent }).filter(() => !random.chance(keptCups)).length
  const servedMs = order.steps.at(-1)?.atMs ?? order.placedMs
  queue.add(servedMs + random.whole(6, 35) * 60_000, { kind: 'cups', stall, cups })
}

/**
 * A refund is made at the cash desk, which is always online. The till that took the order may be offline, and then
 * sends the order minutes after the refund. Returns until when it is offline (0: it is not).
 */
function addRefund(queue: Queue, stall: Stall, order: PlacedOrder, given: GivenBack): number {
  const { day, random } = stall
  stall.refunds++
  const refundId = `R-${day.date.replaceAll('-', '')}-${stall.refunds}`
  for (const [index, { sentMs }] of given.versions.entries())
    send(queue, sentMs, 'refunds', stall, refundRecord(day, order, refundId, given, index))
  return random.chance(overtaken) ? given.atMs + random.whole(20, 240) * 1000 : 0
}

/** Adds a record to the queue, sometimes twice: senders deliver at least once (docs/records.md, Topics). */
function send(queue: Queue, atMs: number, topic: FeedTopic, { day, random }: Stall, value: object) {
  addRecord(queue, atMs, topic, day, value)
  if (random.chance(repeated))
    addRecord(queue, Math.min(atMs + random.whole(1, 90) * 1000, day.closesMs), topic, day, value)
}

function addRecord(queue: Queue, atMs: number, topic: FeedTopic, { eventId }: FestivalDay, value: object) {
  queue.add(atMs, { kind: 'record', topic, key: eventId, value: JSON.stringify(value) })
}
