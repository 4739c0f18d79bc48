import { confirmedStatuses, eventOracle } from '@tally/testkit/oracle/event'
import { queryOf } from '@tally/testkit/oracle/words'
import type { TestRecord } from '@tally/testkit/processes/tally'

/** A path below `/api/v1/events/{eventId}` and the `data` that it must answer. */
export type Expected = { path: string; data: unknown }

/** The count that every answer is compared with, by the oracle; a row of numbers for each of millions of orders. */
export type Count = {
  add: (record: TestRecord) => void
  eventIds: () => string[]
  organizationIdOf: (eventId: string) => string
  /** kpis of every day and area, item counts of every day. */
  answers: (eventId: string) => Expected[]
  /** kpis and item counts of the last day, which changes to the end. */
  lastAnswers: (eventId: string) => Expected[]
  /** kpis, item counts, hours and top items of the last day: what a device polls. */
  polledAnswers: (eventId: string) => Expected[]
  /** Ids of the order list without a filter, newest first. */
  listed: (eventId: string) => string[]
  /** Orders that a row is kept of. */
  orders: () => number
}

// biome-ignore lint/suspicious/noExplicitAny: raw records, on purpose without the product's types
type Any = any
/** version, day, area, is confirmed, is listed, total in cents, time in ms; then of each line item, quantity, cents. */
type OrderRow = [number, number, number, number, number, number, number, ...number[]]
const firstLine = 7
type EventCount = { event: Any; orders: Map<string, OrderRow>; refunds: Map<string, Any> }

const cents = (euros: number) => Math.round(euros * 100)

export function openCount(): Count {
  const events = new Map<string, EventCount>()
  /** By event; deleted when a record changes it. */
  const cached = new Map<string, Map<string, Expected[]>>()

  const of = (eventId: string): EventCount => {
    const known = events.get(eventId)
    if (known !== undefined) return known
    const begun = { event: undefined, orders: new Map(), refunds: new Map() }
    events.set(eventId, begun)
    return begun
  }

  const answersOf = (which: keyof typeof questions, eventId: string): Expected[] => {
    const known = cached.get(eventId) ?? new Map<string, Expected[]>()
    cached.set(eventId, known)
    const { event, orders, refunds } = of(eventId)
    const answers =
      known.get(which) ??
      questions[which](eventOracle(event, [...orders].map(orderOf), [...refunds.values()]))
    known.set(which, answers)
    return answers
  }

  return {
    add({ type, value }) {
      if (type === 'organizations') return
      const { orders, refunds } = of(value.eventId)
      cached.delete(value.eventId)
      if (type === 'events') of(value.eventId).event = value
      else if (type === 'refunds') refunds.has(value.refundId) || refunds.set(value.refundId, value)
      else if ((orders.get(value.orderId)?.[0] ?? 0) < value.version) orders.set(value.orderId, rowOf(value))
    },
    eventIds: () => [...events.keys()],
    organizationIdOf: eventId => of(eventId).event.organizationId,
    answers: eventId => answersOf('all', eventId),
    lastAnswers: eventId => answersOf('last', eventId),
    polledAnswers: eventId => answersOf('polled', eventId),
    listed: eventId =>
      [...of(eventId).orders]
        .filter(([, row]) => row[4] === 1)
        .sort(([one, a], [other, b]) => b[6] - a[6] || (one < other ? 1 : -1))
        .map(([orderId]) => orderId),
    orders: () => [...events.values()].reduce((sum, { orders }) => sum + orders.size, 0),
  }
}

type Oracle = ReturnType<typeof eventOracle>

/** The top items are the ten that sell best: the API's default. */
const questions = {
  all: (of: Oracle) =>
    of.dayIds.flatMap(dayId => [
      ...[undefined, ...of.areaIds].map(areaId => kpis(of, dayId, areaId)),
      itemCounts(of, dayId),
    ]),
  last: (of: Oracle) => lastDay(of, dayId => [kpis(of, dayId), itemCounts(of, dayId)]),
  polled: (of: Oracle) =>
    lastDay(of, dayId => [
      kpis(of, dayId),
      itemCounts(of, dayId),
      { path: `/analytics/orders/by-hour?dayId=${dayId}`, data: of.byHour({ dayId }) },
      { path: `/analytics/orders/top-items?dayId=${dayId}`, data: of.topItems({ dayId }) },
    ]),
}

const lastDay = ({ dayIds }: Oracle, ask: (dayId: number) => Expected[]): Expected[] =>
  dayIds.slice(-1).flatMap(ask)

const kpis = (of: Oracle, dayId: number, areaId?: number): Expected => ({
  path: `/analytics/kpis${queryOf({ dayId, areaId })}`,
  data: of.kpis({ dayId, areaId }),
})

const itemCounts = (of: Oracle, dayId: number): Expected => ({
  path: `/live/item-counts?dayId=${dayId}`,
  data: of.itemCounts(dayId),
})

function rowOf(order: Any): OrderRow {
  return [
    order.version,
    order.dayId,
    order.areaId,
    confirmedStatuses.includes(order.status) ? 1 : 0,
    order.status === 'Cancelled' ? 0 : 1,
    cents(order.totalAmount),
    Date.parse(order.orderDateTime),
    ...order.items.flatMap((line: Any) => [line.menuItemId, line.quantity, cents(line.unitPrice)]),
  ]
}

/** What is counted of an order, as its record said it. */
function orderOf([orderId, row]: [string, OrderRow]) {
  const [, dayId, areaId, isConfirmed, , total, atMs] = row
  const items = Array.from({ length: (row.length - firstLine) / 3 }, (_, line) => {
    const [menuItemId = 0, quantity, price = 0] = row.slice(firstLine + 3 * line)
    return { menuItemId, quantity, unitPrice: price / 100 }
  })
  const status = isConfirmed === 1 ? 'Paid' : 'Pending'
  return {
    orderId,
    dayId,
    areaId,
    status,
    totalAmount: total / 100,
    orderDateTime: new Date(atMs).toISOString(),
    items,
  }
}
