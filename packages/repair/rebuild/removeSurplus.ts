import type { RepairDeps } from '../deps.ts'
import { unknownInRedis } from '../verify/known.ts'

/** Removes from Redis what Postgres does not know. An event that arrives just then is published whole again. */
export async function removeSurplus(deps: RepairDeps): Promise<void> {
  const { redis, keys } = deps
  for await (const ids of unknownInRedis(deps, 'event')) {
    for (const id of ids) await redis.del(keys.event(id))
  }
  for await (const ids of unknownInRedis(deps, 'organization')) {
    for (const id of ids) await redis.del(keys.organization(id))
  }
}
