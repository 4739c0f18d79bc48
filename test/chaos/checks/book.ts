import { eventOracle } from '@tally/testkit/oracle/event'
import { presentEvents } from '@tally/testkit/oracle/present'
import type { TestRecord } from '@tally/testkit/processes/tally'
import { type Answers, answersOf } from './answers.ts'

// biome-ignore lint/suspicious/noExplicitAny: raw records, on purpose without the product's types
export type Raw = any

/** What has been said of one event: the winning version of the event, of each order and of each refund. */
type EventBook = {
  event: Raw | undefined
  orders: Map<string, Raw>
  refunds: Map<string, Raw>
  /** Grows with each record. */
  records: number
}

export type Book = {
  /** Notes a good record that has been sent. */
  add: (record: TestRecord) => void
  /** Ids of the events whose own record has been sent. */
  eventIds: () => string[]
  organizationOf: (eventId: string) => string
  /** What the list of events of an organization must say. */
  eventList: (organizationId: string) => unknown[]
  /** Every answer about an event, counted by brute force (docs/records.md, Counting), until a record changes it. */
  answers: (eventId: string) => Answers
}

/** Keeps the records that have been sent, and counts those of an event again from nothing (packages/testkit/oracle). */
export function openBook(): Book {
  const events = new Map<string, EventBook>()
  const counted = new Map<string, { records: number; answers: Answers }>()

  const bookOf = (eventId: string): EventBook => {
    const known = events.get(eventId) ?? {
      event: undefined,
      orders: new Map(),
      refunds: new Map(),
      records: 0,
    }
    events.set(eventId, known)
    return known
  }

  return {
    add({ type, value }) {
      if (type === 'organizations') return
      const book = bookOf(value.eventId)
      book.records++
      if (type === 'events') {
        if (book.event === undefined || value.version > book.event.version) book.event = value
      } else if (type === 'orders') keepHighest(book.orders, value.orderId, value)
      else keepHighest(book.refunds, value.refundId, value)
    },
    eventIds: () => [...events].filter(([, { event }]) => event !== undefined).map(([id]) => id),
    organizationOf: eventId => bookOf(eventId).event.organizationId,
    eventList: organizationId =>
      presentEvents(
        [...events.values()].flatMap(({ event }) => event ?? []),
        organizationId,
      ),
    answers(eventId) {
      const book = bookOf(eventId)
      const known = counted.get(eventId)
      if (known?.records === book.records) return known.answers
      const { event, orders, refunds } = book
      const answers = answersOf(eventOracle(event, [...orders.values()], [...refunds.values()]))
      counted.set(eventId, { records: book.records, answers })
      return answers
    },
  }
}

/** A record without version is version 1. */
function keepHighest(known: Map<string, Raw>, id: string, value: Raw): void {
  if ((value.version ?? 1) > (known.get(id)?.version ?? (known.has(id) ? 1 : 0))) known.set(id, value)
}
