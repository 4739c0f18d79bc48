import type { RepairParts } from '../parts.ts'
import { unknownInRedis } from '../verify/known.ts'

/** Takes out of Redis what Postgres knows nothing of. An event that comes just then is published whole again. */
export async function removeSurplus(parts: RepairParts): Promise<void> {
  const { redis, keys } = parts
  for await (const ids of unknownInRedis(parts, 'event')) {
    for (const id of ids) await redis.del(keys.event(id))
  }
  for await (const ids of unknownInRedis(parts, 'organization')) {
    for (const id of ids) await redis.del(keys.organization(id))
  }
}
