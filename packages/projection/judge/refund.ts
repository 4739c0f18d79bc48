import type { Refund } from '@tally/contract'
import {
  type CountedOrder,
  changeRefunds,
  difference,
  factsOf,
  type KnownOrder,
  type RefundChange,
} from '@tally/figures'
import type { DiffersIn } from './contradiction.ts'
import type { Outcome } from './outcome.ts'
import { applyVersion, type Replacement } from './versioned.ts'

/**
 * The highest version of a refund wins; a record that names another order than the first one applied is rejected,
 * whatever its version (docs/records.md, Refund).
 */
export function applyRefund(
  known: Pick<Refund, 'version' | 'orderId'> | undefined,
  record: Refund,
  differsIn: DiffersIn,
): Replacement<Refund> {
  if (known !== undefined && record.orderId !== known.orderId) {
    return {
      outcome: 'rejected',
      reason: 'conflict',
      message: 'orderId: a refund never changes its order, and this one belongs to another',
    }
  }
  return applyVersion(known, record, differsIn)
}

/**
 * Applies what changed in the refunds of one order. Refunds whose order is unknown are parked. All refunds of a batch
 * are applied together, because the change covers the whole order: one by one, 200 refunds would read its 500 lines 200
 * times.
 */
export function applyRefundsToOrder<Counted extends CountedOrder>(
  known: KnownOrder<Counted>,
  changes: RefundChange[],
): Extract<Outcome<KnownOrder<Counted>>, { outcome: 'applied' | 'parked' }> {
  const next = { order: known.order, refunds: changeRefunds(known.refunds, changes) }
  if (next.order === undefined) return { outcome: 'parked', next, waitsFor: 'order' }
  return { outcome: 'applied', next, changes: difference(factsOf(known), factsOf(next)) }
}
