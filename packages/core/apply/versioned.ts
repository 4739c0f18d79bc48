import type { Event, Organization, Rejected } from '@tally/contract'

/** Outcome of a record that replaces its entity whole. */
export type Replacement<Value> = { outcome: 'applied'; next: Value } | { outcome: 'duplicate' }

/** The highest version of an organization wins (messages.md section 2). */
export function applyOrganization(
  known: Pick<Organization, 'version'> | undefined,
  record: Organization,
): Replacement<Organization> {
  if (known !== undefined && record.version <= known.version) return { outcome: 'duplicate' }
  return { outcome: 'applied', next: record }
}

/**
 * The highest version of an event wins; a record that names another organization than the first one applied
 * is rejected, whatever its version (messages.md, Event).
 */
export function applyEvent(
  known: Pick<Event, 'version' | 'organizationId'> | undefined,
  record: Event,
): Replacement<Event> | Rejected {
  if (known !== undefined && record.organizationId !== known.organizationId) {
    return {
      outcome: 'rejected',
      reason: 'conflict',
      message: 'organizationId: an event never changes organization, and this one belongs to another',
    }
  }
  if (known !== undefined && record.version <= known.version) return { outcome: 'duplicate' }
  return { outcome: 'applied', next: record }
}
