import type { Event, Organization, Rejected } from '@tally/contract'

/** The outcome of a record that replaces the whole entity. */
export type Replacement<Value> = { outcome: 'applied'; next: Value } | { outcome: 'duplicate' }

/** The highest version of an organization wins (docs/records.md, Which record wins). */
export function applyOrganization(
  known: Pick<Organization, 'version'> | undefined,
  record: Organization,
): Replacement<Organization> {
  if (known !== undefined && record.version <= known.version) return { outcome: 'duplicate' }
  return { outcome: 'applied', next: record }
}

/**
 * The highest version of an event wins; a record that names another organization than the first one applied
 * is rejected, whatever its version (docs/records.md, Event).
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
