import type { EventId, Order, OrderId } from '@tally/contract'
import {
  addChanges,
  type CounterChanges,
  lockEvents,
  noRefunds,
  storeOrders,
  storeRefundSums,
  writeBatch,
} from '@tally/figures'
import type { Postgres } from '@tally/platform'
import { applyOrder } from '@tally/projection'

/** Stores new orders and counts them as a batch does; returns its revision. `refundedCents`: by earlier refunds. */
export function countNewOrders(
  db: Postgres,
  orders: Order[],
  { shard = 0, refundedCents = {} }: { shard?: number; refundedCents?: Record<string, number> } = {},
): Promise<number> {
  const refundsOf = (orderId: OrderId) => ({ ...noRefunds, amount: refundedCents[orderId] ?? 0 })
  const eventIds = [...new Set(orders.map(({ eventId }) => eventId))]
  const changes = new Map<EventId, CounterChanges>(eventIds.map(id => [id, new Map()]))
  for (const order of orders) {
    const outcome = applyOrder({ order: undefined, refunds: refundsOf(order.orderId) }, order)
    if (outcome.outcome === 'applied') addChanges(changes.get(order.eventId) ?? new Map(), outcome.changes)
  }
  return db.transaction().execute(async tx => {
    const locked = await lockEvents(tx, new Map(eventIds.map(id => [id, shard])))
    const scattered = eventIds.filter(id => locked.get(id)?.shard !== shard)
    const refunded = orders.filter(({ orderId }) => orderId in refundedCents)
    const sums = refunded.map(({ orderId, eventId }) => ({ eventId, orderId, refunds: refundsOf(orderId) }))
    if (sums.length > 0) await storeRefundSums(sums).execute(tx)
    return writeBatch(tx, { changes, scattered, writes: [storeOrders(orders)] })
  })
}
