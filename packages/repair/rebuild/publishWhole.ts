import type { EventId, OrganizationId } from '@tally/contract'
import { readEventHeads } from '@tally/figures'
import { publishEvents, publishOrganizations } from '@tally/publication'
import type { RepairDeps } from '../deps.ts'
import { readRevision } from '../verify/converge.ts'
import { unknownInRedis } from '../verify/known.ts'

/**
 * Publishes these events as a whole, also if Redis has the same revision. An invalid revision, or one that Postgres
 * has not reached, would block every publication forever: such a hash is deleted first, and meanwhile Postgres answers.
 */
export async function publishWhole(deps: RepairDeps, eventIds: EventId[]): Promise<void> {
  const { db, redis, keys } = deps
  for (const eventId of eventIds) {
    const published = await readRevision(redis, keys.event(eventId))
    // Postgres is read after Redis, so that it can only be ahead.
    const [head] = await readEventHeads(db, [eventId])
    if (!(published <= (head?.revision ?? -1))) await redis.del(keys.event(eventId))
  }
  await publishEvents(deps, new Map(eventIds.map(id => [id, { whole: true }])))
}

/** The same for organizations, each at its stored revision. */
export async function publishOrganizationsWhole(
  deps: RepairDeps,
  stored: { id: OrganizationId; revision: number }[],
): Promise<void> {
  const { redis, keys } = deps
  for (const { id, revision } of stored) {
    const published = await readRevision(redis, keys.organization(id))
    if (!(published <= revision)) await redis.del(keys.organization(id))
  }
  await publishOrganizations(
    deps,
    stored.map(({ id }) => id),
  )
}

/** Removes from Redis what Postgres does not know. An event that arrives just then is published whole again. */
export async function removeExtra(deps: RepairDeps): Promise<void> {
  const { redis, keys } = deps
  for await (const ids of unknownInRedis(deps, 'event')) {
    for (const id of ids) await redis.del(keys.event(id))
  }
  for await (const ids of unknownInRedis(deps, 'organization')) {
    for (const id of ids) await redis.del(keys.organization(id))
  }
}
