import type { TestRecord } from '../processes/tally.ts'
import { eventOracle } from './event.ts'
import { presentEvents } from './present.ts'
import { type Any, low } from './words.ts'

/**
 * Every answer, computed by brute force from the raw records as docs/records.md (Counting) and docs/api.md define it.
 * Shares no code with the product. Records are in the order in which they were produced, all of them good, apart
 * from those that would move an event or a refund.
 */
export function oracle(records: TestRecord[]) {
  const of = (type: TestRecord['type']) =>
    records.filter(record => record.type === type).map(({ value }) => value)
  const home = firsts(
    of('events'),
    event => low(event.eventId),
    event => low(event.organizationId),
  )
  const settledEvents = of('events').filter(
    event => home.get(low(event.eventId)) === low(event.organizationId),
  )
  const events = winners(settledEvents, event => low(event.eventId))
  const orders = winners(of('orders'), order => `${low(order.eventId)}/${order.orderId}`)
  const refundId = (refund: Any) => `${low(refund.eventId)}/${refund.refundId}`
  const orderOf = firsts(of('refunds'), refundId, refund => refund.orderId)
  const refunds = winners(
    of('refunds').filter(refund => refund.orderId === orderOf.get(refundId(refund))),
    refundId,
  )
  return {
    eventIds: [...events.keys()],
    listEvents: (organizationId: string) => presentEvents([...events.values()], organizationId),
    event: (eventId: string) =>
      eventOracle(
        events.get(eventId),
        [...orders.values()].filter(order => low(order.eventId) === eventId),
        [...refunds.values()].filter(refund => low(refund.eventId) === eventId),
      ),
  }
}
export type Oracle = ReturnType<typeof oracle>

/** To what each entity belongs, by the first of its records. */
function firsts(
  values: Any[],
  id: (value: Any) => string,
  owner: (value: Any) => string,
): Map<string, string> {
  const first = new Map<string, string>()
  for (const value of values) if (!first.has(id(value))) first.set(id(value), owner(value))
  return first
}

function winners(values: Any[], id: (value: Any) => string): Map<string, Any> {
  const best = new Map<string, Any>()
  for (const value of values) {
    const known = best.get(id(value))
    // Only refunds may lack a version, which then is 1.
    if (known === undefined || (value.version ?? 1) > (known.version ?? 1)) best.set(id(value), value)
  }
  return best
}
