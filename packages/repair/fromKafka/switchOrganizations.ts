import type { OrganizationId } from '@tally/contract'
import { lockOrganizations, stampOrganizations } from '@tally/figures'
import { nextRevision } from '@tally/offsets'
import type { Tx } from '@tally/platform'
import { sql } from 'kysely'
import { publishOrganizationsWhole } from '../rebuild/publishWhole.ts'
import { noteRevision } from '../rebuild/revisions.ts'
import { copyRows } from './copyRows.ts'
import { shadowSchema } from './shadow.ts'
import { requireAllPartitions, type SwitchDeps, storeReached, whileInSync } from './whileInSync.ts'

/**
 * Switches the organizations, when the events of all `shards` are switched: their records as in the topic, and a new
 * revision of every list of events. Their events are read up to there as well, so that the shadow knows all that events
 * name; one that neither the topic nor an event names is removed.
 */
export async function switchOrganizations(deps: SwitchDeps, shards: number[]): Promise<void> {
  const topic = deps.topics.organizations
  const synced = { topics: [topic, deps.topics.events], partitions: [...new Set([0, ...shards])] }
  const stamped = await whileInSync(deps, synced, async (tx, reached) => {
    await requireAllPartitions(tx, synced)
    const ids = await readIds(tx)
    await lockOrganizations(tx, ids)
    await copyRows(tx, 'organizations', ids)
    const revision = await nextRevision(tx)
    await stampOrganizations(tx, ids, revision)
    await noteRevision(tx, { topic, partition: 0, revision })
    await storeReached(tx, synced, reached)
    return ids.map(id => ({ id, revision }))
  })
  await publishOrganizationsWhole(deps, stamped)
}

async function readIds(tx: Tx): Promise<OrganizationId[]> {
  const { rows } = await sql<{ id: OrganizationId }>`
select organization_id as id from organizations
union select organization_id from ${sql.id(shadowSchema, 'organizations')}
order by id`.execute(tx)
  return rows.map(({ id }) => id)
}
