import type { EventAnswer, OrganizationId } from '@tally/contract'
import { compareEvents, composeEvent, readEventsOf, readOrganizationHead } from '@tally/figures'
import { inSnapshot, type Postgres, type Snapshot } from '@tally/platform'
import type { ReadModel } from './redis.ts'

/** An organization's status (undefined while no record of it has arrived) and its list of events. */
export type OrganizationDocument = { revision: number; status: string | undefined; events: EventAnswer[] }

/** Composes an organization's document from Postgres; undefined if nothing is known of it. */
export function composeOrganization(
  db: Postgres,
  id: OrganizationId,
): Promise<OrganizationDocument | undefined> {
  return inSnapshot(db, snapshot => compose(snapshot, id))
}

async function compose(snapshot: Snapshot, id: OrganizationId): Promise<OrganizationDocument | undefined> {
  const head = await readOrganizationHead(snapshot, id)
  if (head === undefined) return undefined
  const events = (await readEventsOf(snapshot, id)).toSorted(compareEvents).map(composeEvent)
  return { revision: head.revision, status: head.status, events }
}

/** Organizations per snapshot; their event lists are small. */
const maxOrganizations = 50

/** They do not expire: there are few, and each is small. */
const never = 0

/** Puts the documents of organizations into Redis, whole, under the revision guard. */
export async function publishOrganizations(
  { db, redis, keys }: ReadModel,
  ids: Iterable<OrganizationId>,
): Promise<void> {
  const todo = [...ids]
  while (todo.length > 0) {
    const piece = todo.splice(0, maxOrganizations)
    const documents = await inSnapshot(db, async snapshot => {
      const composed: [OrganizationId, OrganizationDocument | undefined][] = []
      for (const id of piece) composed.push([id, await compose(snapshot, id)])
      return composed
    })
    await Promise.all(
      documents.map(async ([id, document]) => {
        if (document === undefined) return
        const status = document.status === undefined ? [] : ['status', document.status]
        const fields = ['events', JSON.stringify(document.events), ...status]
        await redis.publish(keys.organization(id), document.revision, 'whole', never, ...fields)
      }),
    )
  }
}
