import type { Order, Refund } from '@tally/contract'
import moment from 'moment-timezone'

const confirmed = ['Paid', 'Preparing', 'ReadyForPickup', 'Completed']
const linesSince = Date.parse('2026-08-19T00:00:00Z')

/**
 * The figures of a set of records of one event (docs/records.md, Counting), summed from the raw records; names as in
 * `Counted`. It deliberately shares no code with the core; the core reads the time zone data without moment.
 */
export function bruteForce(
  records: ({ order: Order } | { refund: Refund })[],
  timeZone: string,
): Record<string, number> {
  const orders: Record<string, Order> = {}
  const refunds: Record<string, Refund> = {}
  for (const record of records) {
    if ('refund' in record) {
      if (record.refund.version > (refunds[record.refund.refundId]?.version ?? 0))
        refunds[record.refund.refundId] = record.refund
    } else if (record.order.version > (orders[record.order.orderId]?.version ?? 0))
      orders[record.order.orderId] = record.order
  }
  const totals: Record<string, number> = {}
  for (const order of Object.values(orders)) {
    const back = Object.values(refunds).filter(({ orderId }) => orderId === order.orderId)
    for (const area of [0, order.areaId]) {
      const add = (what: string, amount: number) => {
        const name = `${order.dayId}/${area}/${what}`
        totals[name] = (totals[name] ?? 0) + amount
      }
      add(order.status, 1)
      if (area !== 0) add(`order_bucket${Math.trunc(order.orderDateTime / 1000 / 60 / 5)}/${order.status}`, 1)
      if (!confirmed.includes(order.status)) continue
      const charged = Math.max(0, order.totalAmount)
      const effective = order.totalAmount - Math.min(charged, sum(back.map(({ amount }) => amount)))
      const hour = moment.tz(order.orderDateTime, timeZone).hour()
      add('salesCents', effective)
      const method = `payment_method${order.paymentMethod}`
      add(`${method}/orders`, 1)
      add(`${method}/refundedOrders`, effective < order.totalAmount ? 1 : 0)
      add(`${method}/totalCents`, order.totalAmount)
      add(`${method}/salesCents`, effective)
      add(`hour${hour}/orders`, 1)
      add(`hour${hour}/salesCents`, effective)
      for (const item of new Set(order.items.map(({ menuItemId }) => menuItemId))) {
        const lines = order.items.filter(({ menuItemId }) => menuItemId === item)
        const given = back
          .filter(({ refundedAt }) => refundedAt >= linesSince)
          .flatMap(({ lines }) => lines.filter(({ menuItemId }) => menuItemId === item))
        const quantity = sum(lines.map(line => line.quantity))
        const gross = sum(lines.map(line => line.quantity * line.unitPrice))
        const refundedQuantity = Math.min(Math.max(0, quantity), sum(given.map(line => line.quantity)))
        add('itemsSold', quantity - refundedQuantity)
        add(`item${item}/orders`, 1)
        add(`item${item}/quantity`, quantity)
        add(`item${item}/grossCents`, gross)
        add(`item${item}/refundedQuantity`, refundedQuantity)
        add(`item${item}/refundedCents`, Math.min(Math.max(0, gross), sum(given.map(line => line.amount))))
      }
    }
  }
  return Object.fromEntries(Object.entries(totals).filter(([, amount]) => amount !== 0))
}

const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0)
