import type { OrganizationId } from '@tally/contract'
import type { Postgres } from '@tally/platform'

/**
 * Why nothing can be created for an organization, as a sentence for the user; undefined if its record has arrived. A
 * row of version 0 only says that events of it have.
 */
export async function refusalIfUnknown(db: Postgres, id: OrganizationId): Promise<string | undefined> {
  const row = await db
    .selectFrom('organizations')
    .select('organization_id')
    .where('organization_id', '=', id)
    .where('version', '>', 0)
    .executeTakeFirst()
  return row === undefined
    ? `organization ${id} is not known yet: its record must arrive from Kafka first`
    : undefined
}
