import { difference } from '../counters/changes.ts'
import { type CountedOrder, factsOf, type KnownOrder } from '../counters/facts.ts'
import type { Outcome } from './outcome.ts'

/**
 * Applies one version of an order. The highest version wins, in whatever order they arrive (docs/records.md, Which
 * record wins).
 */
export function applyOrder<Counted extends CountedOrder>(
  known: KnownOrder<Counted>,
  order: Counted,
): Exclude<Outcome<KnownOrder<Counted>>, { outcome: 'parked' }> {
  if (known.order !== undefined && order.version <= known.order.version) return { outcome: 'duplicate' }
  const next = { order, refunds: known.refunds }
  return { outcome: 'applied', next, changes: difference(factsOf(known), factsOf(next)) }
}
