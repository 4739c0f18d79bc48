import { randomUUID } from 'node:crypto'
import { createKey, type NewKey } from '@tally/access'
import type { EventId, OrganizationId } from '@tally/contract'
import type { Postgres } from '@tally/platform'

/** Puts an organization into a test's database, as the projector would have. */
export async function addOrganization(
  db: Postgres,
  { organizationId = randomUUID() as OrganizationId, version = 1 } = {},
): Promise<OrganizationId> {
  const row = {
    organization_id: organizationId,
    version,
    name: 'Pro Loco',
    status: 'Trial',
    revision: 1,
  } as const
  await db.insertInto('organizations').values(row).execute()
  return organizationId
}

/** Puts an event of an organization into a test's database, as far as keys look at it. */
export async function addEvent(db: Postgres, organizationId: OrganizationId): Promise<EventId> {
  const eventId = randomUUID() as EventId
  const row = {
    event_id: eventId,
    organization_id: organizationId,
    version: 1,
    time_zone: 'UTC',
    document: '{}',
  }
  await db.insertInto('events').values(row).execute()
  return eventId
}

/** Makes a key of an organization that reads events and never expires, with what is named otherwise. */
export function addKey(db: Postgres, organizationId: OrganizationId, more: Partial<NewKey> = {}) {
  const scopes = ['events:read' as const]
  return createKey(db, { organizationId, name: 'till', scopes, eventId: null, expiresAt: null, ...more })
}
