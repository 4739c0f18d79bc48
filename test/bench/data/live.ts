import type { TestRecord } from '@tally/testkit/processes/tally'
import type { Preloaded } from './preload.ts'
import { idOf, orderRecord } from './records.ts'

/** New paid orders of an event, one after the other. One function for a data set: a second would repeat their ids. */
export function openLiveOrders({ shape }: Preloaded): (event: number) => TestRecord {
  const sent = new Map<number, number>()
  return event => {
    const number = (sent.get(event) ?? 0) + 1
    sent.set(event, number)
    // The day of the last order, which is open.
    const last = (shape.ordersByEvent[event] ?? 1) - 1
    const record = orderRecord(shape, {
      eventId: idOf(shape.seed, 'event', event),
      event,
      order: last,
      version: 1,
    })
    return { ...record, value: { ...record.value, orderId: `live-${number}`, status: 'Paid' } }
  }
}
