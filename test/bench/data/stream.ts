import type { TestRecord } from '@tally/testkit/processes/tally'
import { eventRecord, idOf, orderRecord, organizationRecord, refundRecord } from './records.ts'
import { isChanged, isRefunded, organizationOf, type Shape } from './shape.ts'

/** So many orders later an order is changed, or paid back: the projector finds it in the table, not in its batch. */
const changedAfter = 5_000
const refundedAfter = 20_000

/** All records of a data set, in the order of the tills; the same for the same shape. None is kept in memory. */
export function* streamOf(shape: Shape): Generator<TestRecord, undefined> {
  const events = shape.ordersByEvent.map((_, event) => event)
  for (const organization of new Set(events.map(event => organizationOf(shape, event))))
    yield organizationRecord(shape.seed, organization)
  for (const event of events) yield eventRecord(shape, event)

  const eventIds = events.map(event => idOf(shape.seed, 'event', event))
  const at = ({ event, order }: Turn, version: 1 | 2) =>
    orderRecord(shape, { eventId: eventIds[event] as string, event, order, version })
  const changes = openDelay(changedAfter)
  const refunds = openDelay(refundedAfter)
  for (const turn of turns(shape.ordersByEvent)) {
    yield at(turn, 1)
    for (const due of changes.next(isChanged(turn.event, turn.order) ? turn : undefined)) yield at(due, 2)
    for (const due of refunds.next(isRefunded(turn.event, turn.order) ? turn : undefined))
      yield refundRecord(at(due, 1))
  }
  for (const due of changes.rest()) yield at(due, 2)
  for (const due of refunds.rest()) yield refundRecord(at(due, 1))
}

type Turn = { event: number; order: number }

/** One order of each event in turn, of those that still have some. */
function* turns(ordersByEvent: number[]): Generator<Turn> {
  const most = ordersByEvent.reduce((one, other) => Math.max(one, other), 0)
  for (let order = 0; order < most; order++) {
    for (const [event, orders] of ordersByEvent.entries()) if (order < orders) yield { event, order }
  }
}

/** Hands a turn back `steps` calls later, or with the rest. */
function openDelay(steps: number) {
  let waiting: { turn: Turn; due: number }[] = []
  let first = 0
  let step = 0
  return {
    *next(turn: Turn | undefined): Generator<Turn> {
      step += 1
      if (turn !== undefined) waiting.push({ turn, due: step + steps })
      for (let head = waiting[first]; head !== undefined && head.due <= step; head = waiting[first]) {
        first += 1
        yield head.turn
      }
      if (first > 10_000) {
        waiting = waiting.slice(first)
        first = 0
      }
    },
    rest: () => waiting.slice(first).map(({ turn }) => turn),
  }
}
