import type { OrganizationId, OrganizationStatus } from '@tally/contract'
import type { Database } from '@tally/platform'
import type { Kysely } from 'kysely'

/** The revision of an organization's document, and its status if a record of it has arrived. */
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

/** Organizations that changed after `revision`. */
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
