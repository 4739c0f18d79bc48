import { type Any, at, cents, sum, unique } from './words.ts'

const refundLinesSince = at('2026-08-19T00:00:00Z')

/** One order's figures, with its refunds (docs/records.md, One order). */
export function figures(order: Any, refunds: Any[]) {
  const lines = refunds
    .filter(refund => at(refund.refundedAt) >= refundLinesSince)
    .flatMap(refund => refund.lines ?? [])
  const items = unique<number>(order.items.map((line: Any) => line.menuItemId)).map(menuItemId => {
    const own = order.items.filter((line: Any) => line.menuItemId === menuItemId)
    const back = lines.filter((line: Any) => line.menuItemId === menuItemId)
    const ordered = sum(own.map((line: Any) => line.quantity))
    const gross = sum(own.map((line: Any) => line.quantity * cents(line.unitPrice)))
    const refundedQuantity = Math.min(Math.max(0, ordered), sum(back.map((line: Any) => line.quantity)))
    const refundedRevenue = Math.min(Math.max(0, gross), sum(back.map((line: Any) => cents(line.amount))))
    return {
      menuItemId,
      quantity: ordered - refundedQuantity,
      revenue: gross - refundedRevenue,
      refundedQuantity,
      refundedRevenue,
    }
  })
  const total = cents(order.totalAmount)
  const effective = total - Math.min(Math.max(0, total), sum(refunds.map(refund => cents(refund.amount))))
  return { order, items, effective }
}
