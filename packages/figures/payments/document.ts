import { toEuros } from '@tally/contract'
import type { RowsOf } from '../counting/counters.ts'

/** What one payment method took, in euros: `total` before refunds, `takings` net of them. */
export type PaymentFigures = {
  paymentMethod: string
  orders: number
  refundedOrders: number
  total: number
  takings: number
}

/** Payment methods that at least one confirmed order has, as their records name them. */
export function composePayments(rows: RowsOf<'payments'>): PaymentFigures[] {
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
