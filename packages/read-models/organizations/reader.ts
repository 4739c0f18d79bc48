import type { OrganizationId, OrganizationStatus } from '@tally/contract'
import type { Kysely } from 'kysely'
import type { Database } from '../postgres/database.ts'

export type StoredOrganization = {
  organizationId: OrganizationId
  name: string
  status: OrganizationStatus
  revision: number
}

/** One organization, or undefined while no record of it has come. */
export async function readOrganization(
  db: Kysely<Database>,
  id: OrganizationId,
): Promise<StoredOrganization | undefined> {
  const row = await db
    .selectFrom('organizations')
    .selectAll()
    .where('organization_id', '=', id)
    .where('version', '>', 0)
    .executeTakeFirst()
  return row && { organizationId: id, name: row.name, status: row.status, revision: row.revision }
}

/** The revision of an organization's document, and its status where a record of it has come. */
export async function readOrganizationHead(
  db: Kysely<Database>,
  id: OrganizationId,
): Promise<{ revision: number; status: OrganizationStatus | undefined } | undefined> {
  const row = await db
    .selectFrom('organizations')
    .select(['revision', 'version', 'status'])
    .where('organization_id', '=', id)
    .executeTakeFirst()
  return row && { revision: row.revision, status: row.version === 0 ? undefined : row.status }
}

/** Organizations that a revision above `revision` changed. */
export async function readOrganizationsSince(
  db: Kysely<Database>,
  revision: number,
): Promise<OrganizationId[]> {
  const rows = await db
    .selectFrom('organizations')
    .select('organization_id')
    .where('revision', '>', revision)
    .execute()
  return rows.map(({ organization_id }) => organization_id as OrganizationId)
}
