import type { TestRecord } from '../processes/tally.ts'
import { eventOracle } from './event.ts'
import { presentEvent } from './present.ts'
import { type Any, at, compare, low } from './words.ts'

/**
 * Every answer, computed by brute force from the raw records as docs/records.md (Counting) and docs/api.md define it.
 * Shares no code with the product. Records are in the order in which they were produced, all of them good, apart
 * from those that would move an event.
 */
export function oracle(records: TestRecord[]) {
  const of = (type: TestRecord['type']) =>
    records.filter(record => record.type === type).map(({ value }) => value)
  const home = new Map<string, string>()
  for (const event of of('events'))
    if (!home.has(low(event.eventId))) home.set(low(event.eventId), low(event.organizationId))
  const settledEvents = of('events').filter(
    event => home.get(low(event.eventId)) === low(event.organizationId),
  )
  const events = winners(settledEvents, event => low(event.eventId))
  const orders = winners(of('orders'), order => `${low(order.eventId)}/${order.orderId}`)
  const refunds = new Map<string, Any>()
  for (const refund of of('refunds')) {
    const id = `${low(refund.eventId)}/${refund.refundId}`
    if (!refunds.has(id)) refunds.set(id, refund)
  }
  return {
    eventIds: [...events.keys()],
    listEvents: (organizationId: string) =>
      [...events.values()]
        .filter(event => low(event.organizationId) === organizationId)
        .sort((a, b) => at(b.startDate) - at(a.startDate) || compare(low(a.eventId), low(b.eventId)))
        .map(presentEvent),
    event: (eventId: string) =>
      eventOracle(
        events.get(eventId),
        [...orders.values()].filter(order => low(order.eventId) === eventId),
        [...refunds.values()].filter(refund => low(refund.eventId) === eventId),
      ),
  }
}
export type Oracle = ReturnType<typeof oracle>

function winners(values: Any[], id: (value: Any) => string): Map<string, Any> {
  const best = new Map<string, Any>()
  for (const value of values) {
    const known = best.get(id(value))
    if (known === undefined || value.version > known.version) best.set(id(value), value)
  }
  return best
}
