import type { MenuItemId, Refund } from '@tally/contract'
import { difference } from '../counters/changes.ts'
import { type CountedOrder, factsOf, type KnownOrder, type RefundSums } from '../counters/facts.ts'
import { getOrInsertComputed } from '../getOrInsertComputed.ts'
import type { Outcome } from './outcome.ts'

/** Before this instant refunds were not tracked per line: REFUND_LINES_SINCE (docs/records.md, Counting). */
export const refundLinesSince = Date.UTC(2026, 7, 19)

/** Sums are capped here: an order's amounts are smaller, and a double stays exact. */
const maxSum = 1e15

type RefundAmounts = Pick<Refund, 'amount' | 'refundedAt' | 'lines'>

/**
 * Applies refunds of one order that were not applied before. The caller checks that by (eventId, refundId): the first
 * valid one in the partition wins (docs/records.md, Which record wins). Refunds whose order is unknown are parked. All
 * refunds of a batch are applied together, because the change covers the whole order: one by one, 200 refunds would
 * read its 500 lines 200 times.
 */
export function applyRefunds<Counted extends CountedOrder>(
  known: KnownOrder<Counted>,
  refunds: RefundAmounts[],
): Exclude<Outcome<KnownOrder<Counted>>, { outcome: 'duplicate' }> {
  const next = { order: known.order, refunds: addRefunds(known.refunds, refunds) }
  if (next.order === undefined) return { outcome: 'parked', next, waitsFor: 'order' }
  return { outcome: 'applied', next, changes: difference(factsOf(known), factsOf(next)) }
}

/** Adds refunds to the sums of their order, in time linear in the lines of both. */
export function addRefunds(sums: RefundSums, refunds: RefundAmounts[]): RefundSums {
  let amount = sums.amount
  let lines: Map<MenuItemId, RefundSums['lines'][number]> | undefined
  for (const refund of refunds) {
    amount = Math.min(maxSum, amount + refund.amount)
    if (refund.refundedAt < refundLinesSince || refund.lines.length === 0) continue
    lines ??= new Map(sums.lines.map(line => [line.menuItemId, { ...line }]))
    for (const { menuItemId, quantity, amount } of refund.lines) {
      const line = getOrInsertComputed(lines, menuItemId, () => ({ menuItemId, quantity: 0, amount: 0 }))
      line.quantity = Math.min(maxSum, line.quantity + quantity)
      line.amount = Math.min(maxSum, line.amount + amount)
    }
  }
  if (lines === undefined) return { amount, lines: sums.lines }
  return { amount, lines: [...lines.values()].sort((one, other) => one.menuItemId - other.menuItemId) }
}
