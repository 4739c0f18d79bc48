import type { Event, Organization, Rejected } from '@tally/contract'
import { isNewer, judgeRepeat } from './contradiction.ts'

/** The outcome of a record that replaces the whole entity. */
export type Replacement<Value> = { outcome: 'applied'; next: Value } | { outcome: 'duplicate' } | Rejected

/** Returns the first field in which a record differs from the applied one of its version; undefined for a repeat. */
export type DiffersIn<Value> = (record: Value) => string | undefined

/** The highest version of an organization wins (docs/records.md, Which record wins). */
export function applyOrganization(
  known: Pick<Organization, 'version'> | undefined,
  record: Organization,
  differsIn: DiffersIn<Organization>,
): Replacement<Organization> {
  if (known === undefined || isNewer(known, record)) return { outcome: 'applied', next: record }
  return judgeRepeat(known, record, () => differsIn(record))
}

/**
 * The highest version of an event wins; a record that names another organization than the first one applied
 * is rejected, whatever its version (docs/records.md, Event).
 */
export function applyEvent(
  known: Pick<Event, 'version' | 'organizationId'> | undefined,
  record: Event,
  differsIn: DiffersIn<Event>,
): Replacement<Event> {
  if (known !== undefined && record.organizationId !== known.organizationId) {
    return {
      outcome: 'rejected',
      reason: 'conflict',
      message: 'organizationId: an event never changes organization, and this one belongs to another',
    }
  }
  if (known === undefined || isNewer(known, record)) return { outcome: 'applied', next: record }
  return judgeRepeat(known, record, () => differsIn(record))
}
