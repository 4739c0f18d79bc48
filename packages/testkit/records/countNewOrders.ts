import type { EventId, Order } from '@tally/contract'
import { addChanges, applyOrder, type CounterChanges, unknownOrder } from '@tally/core'
import { lockEvents, storeOrders, writeBatch } from '@tally/read-models'
import type { Postgres } from '@tally/storage'

/** Stores orders that were not there before and counts them, as a batch does; returns its revision. */
export function countNewOrders(db: Postgres, orders: Order[], { shard = 0 } = {}): Promise<number> {
  const eventIds = [...new Set(orders.map(({ eventId }) => eventId))]
  const changes = new Map<EventId, CounterChanges>(eventIds.map(id => [id, new Map()]))
  for (const order of orders) {
    const outcome = applyOrder(unknownOrder, order)
    if (outcome.outcome === 'applied') addChanges(changes.get(order.eventId) ?? new Map(), outcome.changes)
  }
  return db.transaction().execute(async tx => {
    const locked = await lockEvents(tx, new Map(eventIds.map(id => [id, shard])))
    const scattered = eventIds.filter(id => locked.get(id)?.shard !== shard)
    return writeBatch(tx, { changes, scattered, writes: [storeOrders(orders)] })
  })
}
