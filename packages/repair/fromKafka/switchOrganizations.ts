import type { OrganizationId } from '@tally/contract'
import { lockOrganizations, nextRevision, stampOrganizations } from '@tally/read-models'
import type { Tx } from '@tally/storage'
import { sql } from 'kysely'
import { publishOrganizationsWhole } from '../rebuild/publishWhole.ts'
import { noteRevision } from '../rebuild/revisions.ts'
import { lockOffsets, storeReached, tailMs } from './meet.ts'
import { shadowSchema } from './shadow.ts'
import type { SwitchDeps } from './switchDeps.ts'

/**
 * Switches the organizations, when all events are switched: their records as in the topic, and a new
 * revision of every list of events. One that neither the topic nor a live event names is removed.
 */
export async function switchOrganizations(deps: SwitchDeps, topic: string): Promise<void> {
  const { locked, live, follower, redis, keys } = deps
  const meeting = { live, follower, topics: [topic] }
  try {
    const { revision, ids, surplus } = await locked.transaction().execute(async tx => {
      await sql`set local idle_in_transaction_session_timeout = '2min'`.execute(tx)
      const reached = await lockOffsets(tx, meeting, [0])
      await follower.reach(reached, tailMs)
      const all = await readIds(tx, live)
      await lockOrganizations(tx, all)
      const surplus = await removeUnknown(tx, live)
      await copyRecords(tx, live)
      const ids = all.filter(id => !surplus.has(id))
      const revision = await nextRevision(tx)
      await stampOrganizations(tx, ids, revision)
      await noteRevision(tx, { topic, partition: 0, revision })
      await storeReached(tx, meeting, { partitions: [0], reached })
      return { revision, ids, surplus }
    })
    for (const id of surplus) await redis.del(keys.organization(id))
    await publishOrganizationsWhole(
      deps,
      ids.map(id => ({ id, revision })),
    )
  } finally {
    follower.release()
  }
}

async function readIds(tx: Tx, live: string): Promise<OrganizationId[]> {
  const { rows } = await sql<{ id: OrganizationId }>`
select organization_id as id from ${sql.id(live, 'organizations')}
union select organization_id from ${sql.id(live, 'events')}
union select organization_id from ${sql.id(shadowSchema, 'organizations')} where version > 0
order by id`.execute(tx)
  return rows.map(({ id }) => id)
}

async function removeUnknown(tx: Tx, live: string): Promise<Set<OrganizationId>> {
  const { rows } = await sql<{ id: OrganizationId }>`
delete from ${sql.id(live, 'organizations')} as kept
where not exists (
    select from ${sql.id(shadowSchema, 'organizations')} as made
    where made.organization_id = kept.organization_id and made.version > 0
  )
  and not exists (select from ${sql.id(live, 'events')} as event where event.organization_id = kept.organization_id)
returning organization_id as id`.execute(tx)
  return new Set(rows.map(({ id }) => id))
}

/** An organization without a record has version 0, as lockOrganizations inserts it. */
async function copyRecords(tx: Tx, live: string): Promise<void> {
  await sql`
update ${sql.id(live, 'organizations')} as kept
set version = coalesce(made.version, 0), name = coalesce(made.name, ''), status = coalesce(made.status, 'Trial')
from ${sql.id(live, 'organizations')} as own
left join ${sql.id(shadowSchema, 'organizations')} as made using (organization_id)
where own.organization_id = kept.organization_id
  and (kept.version, kept.name, kept.status)
    is distinct from (coalesce(made.version, 0), coalesce(made.name, ''), coalesce(made.status, 'Trial'))`.execute(
    tx,
  )
}
