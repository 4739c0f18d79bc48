import type { FactChange } from '@tally/figures'

/**
 * What a valid record does to what was known; the fourth outcome, rejected, is in the contract. `duplicate`: a repeat
 * or an old version; it changes nothing. `parked`: stored, and counts as soon as what it waits for arrives.
 */
export type Outcome<Known> =
  | { outcome: 'applied'; next: Known; changes: FactChange[] }
  | { outcome: 'parked'; next: Known; waitsFor: 'order' }
  | { outcome: 'duplicate' }
