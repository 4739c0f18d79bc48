import type { MenuItemId, Refund } from '@tally/contract'
import { difference } from '../counters/changes.ts'
import { type CountedOrder, factsOf, type KnownOrder, type RefundSums } from '../counters/facts.ts'
import { getOrInsertComputed } from '../getOrInsertComputed.ts'
import type { Outcome } from './outcome.ts'

/** Before this instant refunds were not tracked per line: REFUND_LINES_SINCE (messages.md section 4). */
export const refundLinesSince = Date.UTC(2026, 7, 19)

/** Sums beyond this change nothing (an order's amounts are smaller), and stay exact in a double. */
const enough = 1e15

type RefundAmounts = Pick<Refund, 'amount' | 'refundedAt' | 'lines'>

/**
 * Applies refunds of one order that were not applied before: their caller looks that up by (eventId, refundId), the first
 * good one in the partition wins (messages.md section 2). Without their order they are parked. All refunds of a batch go
 * together, because the change is one of the whole order: 200 refunds of 500 lines would be 200 times 500 lines.
 */
export function applyRefunds<Counted extends CountedOrder>(
  known: KnownOrder<Counted>,
  refunds: RefundAmounts[],
): Exclude<Outcome<KnownOrder<Counted>>, { outcome: 'duplicate' }> {
  const next = { order: known.order, refunds: addRefunds(known.refunds, refunds) }
  if (next.order === undefined) return { outcome: 'parked', next, waitsFor: 'order' }
  return { outcome: 'applied', next, changes: difference(factsOf(known), factsOf(next)) }
}

/** Adds refunds to the sums of their order; takes time with the lines of both, however many there are. */
export function addRefunds(sums: RefundSums, refunds: RefundAmounts[]): RefundSums {
  let amount = sums.amount
  let lines: Map<MenuItemId, RefundSums['lines'][number]> | undefined
  for (const refund of refunds) {
    amount = Math.min(enough, amount + refund.amount)
    if (refund.refundedAt < refundLinesSince || refund.lines.length === 0) continue
    lines ??= new Map(sums.lines.map(line => [line.menuItemId, { ...line }]))
    for (const { menuItemId, quantity, amount } of refund.lines) {
      const line = getOrInsertComputed(lines, menuItemId, () => ({ menuItemId, quantity: 0, amount: 0 }))
      line.quantity = Math.min(enough, line.quantity + quantity)
      line.amount = Math.min(enough, line.amount + amount)
    }
  }
  if (lines === undefined) return { amount, lines: sums.lines }
  return { amount, lines: [...lines.values()].sort((one, other) => one.menuItemId - other.menuItemId) }
}
