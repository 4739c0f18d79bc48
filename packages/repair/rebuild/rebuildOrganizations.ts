import type { OrganizationId } from '@tally/contract'
import { lockOrganizations, stampOrganizations } from '@tally/figures'
import { nextRevision } from '@tally/offsets'
import { organizationIds } from '../verify/known.ts'
import { publishOrganizationsWhole } from './publishWhole.ts'
import type { RebuildDeps } from './rebuildEvent.ts'
import { lockPartition, noteRevision } from './revisions.ts'

const atOnce = 100

/** Stamps a new revision on all organizations (making the rows of those that only events name) and publishes them. */
export async function rebuildOrganizations(deps: RebuildDeps, organizationsTopic: string): Promise<void> {
  const ids = await organizationIds(deps.db)
  for (let from = 0; from < ids.length; from += atOnce) {
    const some = ids.slice(from, from + atOnce)
    const revision = await stamp(deps, organizationsTopic, some)
    await publishOrganizationsWhole(
      deps,
      some.map(id => ({ id, revision })),
    )
  }
}

function stamp({ locked }: RebuildDeps, topic: string, ids: OrganizationId[]): Promise<number> {
  return locked.transaction().execute(async tx => {
    await lockPartition(tx, topic, 0)
    await lockOrganizations(tx, ids)
    const revision = await nextRevision(tx)
    await stampOrganizations(tx, ids, revision)
    await noteRevision(tx, { topic, partition: 0, revision })
    return revision
  })
}
