import type { OrderId } from '@tally/contract'
import {
  changeRefunds,
  noRefunds,
  type RefundSums,
  type ScannedOrder,
  type ScannedRefund,
} from '@tally/figures'
import type { Finding } from '../differences.ts'

/** An order as it is stored (`kept`, undefined if it has no row) with the sum of all its refunds. */
export type OrderWithRefunds = {
  orderId: OrderId
  kept: ScannedOrder | undefined
  sums: RefundSums
  refunds: number
}

/** Joins orders and refunds, both sorted by order id in byte order. Includes refunds without an order. */
export async function* joinRefunds(
  orders: AsyncGenerator<ScannedOrder, undefined>,
  refunds: AsyncGenerator<ScannedRefund, undefined>,
): AsyncGenerator<OrderWithRefunds> {
  let order = (await orders.next()).value
  let refund = (await refunds.next()).value
  while (order !== undefined || refund !== undefined) {
    const orderId = first(order?.orderId, refund?.orderId)
    const entry: OrderWithRefunds = { orderId, kept: undefined, sums: noRefunds, refunds: 0 }
    if (order?.orderId === orderId) {
      entry.kept = order
      order = (await orders.next()).value
    }
    while (refund !== undefined && refund.orderId === orderId) {
      entry.sums = changeRefunds(entry.sums, [{ before: undefined, after: refund }])
      entry.refunds += 1
      refund = (await refunds.next()).value
    }
    yield entry
  }
}

function first(one: OrderId | undefined, other: OrderId | undefined): OrderId {
  if (one === undefined || other === undefined) return (one ?? other) as OrderId
  return one < other ? one : other
}

/** The stored sums of an order that differ from the sum of its refunds. */
export function sumFindings({ orderId, kept, sums, refunds }: OrderWithRefunds): Finding[] {
  const finding = (column: string, found: unknown, counted: unknown): Finding => ({
    where: 'postgres',
    what: `orders ${orderId} ${column}`,
    found,
    counted,
  })
  // Only refunds arrived, and the row that should hold their sum is missing.
  if (kept === undefined) return [finding('refunded_cents', null, sums.amount)]
  const lines = JSON.stringify(sums.lines)
  // Without refunds there may be no sums at all; with refunds there must be, or the next refund would be added to
  // nothing.
  const linesAgree = kept.refundedLines === null ? refunds === 0 : sameLines(kept.refundedLines, lines)
  return [
    ...(kept.refundedCents === sums.amount
      ? []
      : [finding('refunded_cents', kept.refundedCents, sums.amount)]),
    ...(linesAgree ? [] : [finding('refunded_lines', kept.refundedLines, lines)]),
  ]
}

function sameLines(stored: string, counted: string): boolean {
  if (stored === counted) return true
  try {
    return JSON.stringify(JSON.parse(stored)) === counted
  } catch {
    return false
  }
}
