import type { Event, Organization, Rejected } from '@tally/contract'
import { type DiffersIn, isNewer, judgeRepeat } from './contradiction.ts'

/** The outcome of a record that replaces the whole entity. */
export type Replacement<Value> = { outcome: 'applied'; next: Value } | { outcome: 'duplicate' } | Rejected

/** The highest version of an entity wins (docs/records.md, Which record wins). */
export function applyVersion<Value extends { version: number }>(
  known: { version: number } | undefined,
  record: Value,
  differsIn: DiffersIn,
): Replacement<Value> {
  if (known === undefined || isNewer(known, record)) return { outcome: 'applied', next: record }
  return judgeRepeat(known, record, differsIn)
}

/** An organization has no rule besides. */
export const applyOrganization = applyVersion<Organization>

/**
 * The highest version of an event wins; a record that names another organization than the first one applied
 * is rejected, whatever its version (docs/records.md, Event).
 */
export function applyEvent(
  known: Pick<Event, 'version' | 'organizationId'> | undefined,
  record: Event,
  differsIn: DiffersIn,
): Replacement<Event> {
  if (known !== undefined && record.organizationId !== known.organizationId) {
    return {
      outcome: 'rejected',
      reason: 'conflict',
      message: 'organizationId: an event never changes organization, and this one belongs to another',
    }
  }
  return applyVersion(known, record, differsIn)
}
