import type { Refund } from '@tally/contract'
import { difference } from '../counters/changes.ts'
import { type CountedOrder, factsOf, type KnownOrder, type RefundSums } from '../counters/facts.ts'
import type { Outcome } from './outcome.ts'

/** Before this instant refunds were not tracked per line: REFUND_LINES_SINCE (messages.md section 4). */
export const refundLinesSince = Date.UTC(2026, 7, 19)

/** Sums beyond this change nothing (an order's amounts are smaller), and stay exact in a double. */
const enough = 1e15

/**
 * Applies a refund that was not applied before: its caller looks that up by (eventId, refundId), the first good
 * one in the partition wins (messages.md section 2). Without its order it is parked.
 */
export function applyRefund<Counted extends CountedOrder>(
  known: KnownOrder<Counted>,
  refund: Pick<Refund, 'amount' | 'refundedAt' | 'lines'>,
): Exclude<Outcome<KnownOrder<Counted>>, { outcome: 'duplicate' }> {
  const next = { order: known.order, refunds: addRefund(known.refunds, refund) }
  if (next.order === undefined) return { outcome: 'parked', next, waitsFor: 'order' }
  return { outcome: 'applied', next, changes: difference(factsOf(known), factsOf(next)) }
}

/** Adds a refund to the sums of its order. */
export function addRefund(
  sums: RefundSums,
  refund: Pick<Refund, 'amount' | 'refundedAt' | 'lines'>,
): RefundSums {
  const amount = Math.min(enough, sums.amount + refund.amount)
  if (refund.refundedAt < refundLinesSince || refund.lines.length === 0) return { amount, lines: sums.lines }
  const lines = sums.lines.map(line => ({ ...line }))
  for (const { menuItemId, quantity, amount } of refund.lines) {
    const line = lines.find(found => found.menuItemId === menuItemId)
    if (line === undefined) {
      lines.push({ menuItemId, quantity, amount })
    } else {
      line.quantity = Math.min(enough, line.quantity + quantity)
      line.amount = Math.min(enough, line.amount + amount)
    }
  }
  return { amount, lines: lines.sort((one, other) => one.menuItemId - other.menuItemId) }
}
