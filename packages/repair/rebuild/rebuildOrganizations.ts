import type { OrganizationId } from '@tally/contract'
import { lockOrganizations, nextRevision, stampOrganizations } from '@tally/read-models'
import { organizationIds } from '../verify/known.ts'
import { publishOrganizationsWhole } from './publishWhole.ts'
import type { RebuildParts } from './rebuildEvent.ts'
import { lockPartition, noteRevision } from './revisions.ts'

const atOnce = 100

/** Stamps a new revision on all organizations (making the rows of those that only events name) and publishes them. */
export async function rebuildOrganizations(parts: RebuildParts, organizationsTopic: string): Promise<void> {
  const ids = await organizationIds(parts.db)
  for (let from = 0; from < ids.length; from += atOnce) {
    const some = ids.slice(from, from + atOnce)
    const revision = await stamp(parts, organizationsTopic, some)
    await publishOrganizationsWhole(
      parts,
      some.map(id => ({ id, revision })),
    )
  }
}

function stamp({ locked }: RebuildParts, topic: string, ids: OrganizationId[]): Promise<number> {
  return locked.transaction().execute(async tx => {
    await lockPartition(tx, topic, 0)
    await lockOrganizations(tx, ids)
    const revision = await nextRevision(tx)
    await stampOrganizations(tx, ids, revision)
    await noteRevision(tx, { topic, partition: 0, revision })
    return revision
  })
}
