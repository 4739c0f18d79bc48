import type { Organization, OrganizationId, OrganizationStatus } from '@tally/contract'
import type { Database, Tx } from '@tally/platform'
import { type Kysely, sql } from 'kysely'

declare module '@tally/platform/database' {
  interface Database {
    organizations: OrganizationTable
  }
}

/**
 * One row per organization; `version` 0 while only events of it have arrived. `revision` is that of the last batch that
 * changed the organization or its list of events.
 */
type OrganizationTable = {
  organization_id: string
  version: number
  name: string
  status: OrganizationStatus
  revision: number
}

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

/** `version` 0: only events of it have arrived. */
type LockedOrganization = Pick<Organization, 'version' | 'name' | 'status'> & { revision: number }

/**
 * Locks these organizations until the transaction ends, in the same order for all batches; new ones get a row of
 * version 0, which counts as unknown. A batch locks events first, then organizations.
 */
export async function lockOrganizations(
  tx: Tx,
  ids: OrganizationId[],
): Promise<Map<OrganizationId, LockedOrganization>> {
  await sql`
insert into organizations (organization_id, version, name, status, revision)
select id, 0, '', 'Trial', 0 from unnest(${ids}::uuid[]) as id
order by id
on conflict do nothing`.execute(tx)
  const { rows } = await sql<LockedOrganization & { organization_id: OrganizationId }>`
select organization_id, version, name, status, revision
from organizations
where organization_id = any(${ids}::uuid[])
order by organization_id
for update`.execute(tx)
  return new Map(rows.map(({ organization_id, ...locked }) => [organization_id, locked]))
}

/** Stamps a batch's revision on the organizations whose list of events it changed. */
export async function stampOrganizations(tx: Tx, ids: OrganizationId[], revision: number): Promise<void> {
  await sql`update organizations set revision = ${revision} where organization_id = any(${ids}::uuid[])`.execute(
    tx,
  )
}

/** Stores locked organizations at their winning version, stamped with the batch's revision. */
export async function storeOrganizations(
  tx: Tx,
  organizations: Organization[],
  revision: number,
): Promise<void> {
  await sql`
update organizations as stored
set version = record.version, name = record.name, status = record.status, revision = ${revision}
from unnest(
  ${organizations.map(({ organizationId }) => organizationId)}::uuid[],
  ${organizations.map(({ version }) => version)}::bigint[],
  ${organizations.map(({ name }) => name)}::text[],
  ${organizations.map(({ status }) => status)}::text[]
) as record (organization_id, version, name, status)
where stored.organization_id = record.organization_id`.execute(tx)
}
