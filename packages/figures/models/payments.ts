import { toEuros } from '@tally/contract'
import { counter, type RowsIn } from '../counting/counter.ts'

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

/** What one payment method took, in euros: `total` before refunds, `takings` net of them. */
export type PaymentFigures = {
  paymentMethod: string
  orders: number
  refundedOrders: number
  total: number
  takings: number
}

/** Payment methods that at least one confirmed order has, as their records name them. */
export function composePayments(rows: RowsIn<typeof payments>): PaymentFigures[] {
  return [...rows]
    .filter(([, { orders }]) => orders > 0)
    .map(([paymentMethod, { orders, refundedOrders, totalCents, salesCents }]) => ({
      paymentMethod,
      orders,
      refundedOrders,
      total: toEuros(totalCents),
      takings: toEuros(salesCents),
    }))
    .sort(byTakings)
}

/** Most takings first, then by name. */
export const byTakings = (one: PaymentFigures, other: PaymentFigures): number =>
  other.takings - one.takings || (one.paymentMethod < other.paymentMethod ? -1 : 1)
