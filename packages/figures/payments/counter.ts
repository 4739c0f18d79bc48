import { counter } from '../counting/counter.ts'

/** Confirmed orders by payment method, as the record names it; `totalCents` before refunds, `salesCents` after them. */
export const payments = counter({
  table: 'payment_counters',
  key: { day_id: 'int', area_id: 'int', payment_method: 'text' },
  amounts: { orders: 'bigint', refundedOrders: 'bigint', totalCents: 'bigint', salesCents: 'bigint' },
  count(rows, { confirmed, paymentMethod, totalCents, salesCents }, sign) {
    if (!confirmed) return
    const method = rows.at(paymentMethod)
    method.orders += sign
    if (salesCents !== totalCents) method.refundedOrders += sign
    method.totalCents += sign * totalCents
    method.salesCents += sign * salesCents
  },
})
