import { type CountedOrder, difference, factsOf, type KnownOrder } from '@tally/figures'
import { isNewer } from './contradiction.ts'
import type { Outcome } from './outcome.ts'

/** Applies one version of an order; in whatever order they arrive, `isNewer` decides. */
export function applyOrder<Counted extends CountedOrder>(
  known: KnownOrder<Counted>,
  order: Counted,
): Exclude<Outcome<KnownOrder<Counted>>, { outcome: 'parked' }> {
  if (!isNewer(known.order, order)) return { outcome: 'duplicate' }
  const next = { order, refunds: known.refunds }
  return { outcome: 'applied', next, changes: difference(factsOf(known), factsOf(next)) }
}
