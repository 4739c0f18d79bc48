import type { EventAnswer, OrganizationId } from '@tally/contract'
import { compareEvents, composeEvent } from '@tally/core'
import { readEventsOf } from '../events/reader.ts'
import { readOrganizationHead } from '../organizations/reader.ts'
import type { Postgres } from '../postgres/pool.ts'
import type { RedisClient } from '../redis/client.ts'
import type { RedisKeys } from '../redis/keys.ts'
import { inSnapshot } from './snapshot.ts'

/** An organization's status (undefined while no record of it has come) and its list of events. */
export type OrganizationDocument = { revision: number; status: string | undefined; events: EventAnswer[] }

/** Composes an organization's document from Postgres; undefined where nothing is known of it. */
export function composeOrganization(
  db: Postgres,
  id: OrganizationId,
): Promise<OrganizationDocument | undefined> {
  return inSnapshot(db, async snapshot => {
    const head = await readOrganizationHead(snapshot, id)
    if (head === undefined) return undefined
    const events = (await readEventsOf(snapshot, id)).toSorted(compareEvents).map(composeEvent)
    return { revision: head.revision, status: head.status, events }
  })
}

/** Puts the documents of organizations into Redis, whole, under the revision guard. */
export async function publishOrganizations(
  { db, redis, keys }: { db: Postgres; redis: RedisClient; keys: RedisKeys },
  ids: Iterable<OrganizationId>,
): Promise<void> {
  for (const id of ids) {
    const document = await composeOrganization(db, id)
    if (document === undefined) continue
    const status = document.status === undefined ? [] : ['status', document.status]
    await redis.publish(
      keys.organization(id),
      document.revision,
      'whole',
      'events',
      JSON.stringify(document.events),
      ...status,
    )
  }
}
