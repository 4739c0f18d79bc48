import type { FactChange } from '../counters/changes.ts'

/**
 * What a good record does to what was known (house rule: four outcomes, four names; the fourth, rejected, is
 * in the contract). `duplicate`: a repeat or an old version, changes nothing. `parked`: kept, counts as soon as
 * what it waits for is there.
 */
export type Outcome<Known> =
  | { outcome: 'applied'; next: Known; changes: FactChange[] }
  | { outcome: 'parked'; next: Known; waitsFor: 'order' }
  | { outcome: 'duplicate' }
