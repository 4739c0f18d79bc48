import type { OrganizationId, OrganizationStatus } from '@tally/contract'
import {
  type Postgres,
  publishOrganizations,
  type RedisClient,
  type RedisKeys,
  readOrganizationHead,
} from '@tally/read-models'
import type { RateLimits } from '@tally/runtime'
import { LRUCache } from 'lru-cache'
import type { Breaker } from './breaker.ts'
import { unavailable } from './http/problems.ts'
import { type Grant, type RedisTurns, windowMs } from './redisTurns.ts'

/** Of an organization of which no record has come: keys are made for known ones only, so this is never seen. */
const unknownStatus: OrganizationStatus = 'Trial'

export type RateLimiter = (organizationId: OrganizationId) => Promise<Grant>

/**
 * Counts requests per organization in Redis, exact over all query processes: status, window and count are one
 * script. With Redis down, each process counts for itself (decisions.md, When a part is down); with
 * Postgres down as well no limit is known, and the request is a `service-unavailable`.
 */
export function openRateLimiter(
  parts: { db: Postgres; redis: RedisClient; keys: RedisKeys; turns: RedisTurns; breaker: Breaker },
  limits: RateLimits,
): RateLimiter {
  const { db, turns, breaker } = parts
  const ownWindows = new LRUCache<OrganizationId, { used: number; endsAtMs: number }>({ max: 100_000 })

  const takeHere = async (id: OrganizationId): Promise<Grant> => {
    const organization = await readOrganizationHead(db, id).catch(() => {
      throw unavailable()
    })
    const limit = limits[organization?.status ?? unknownStatus]
    const now = Date.now()
    let window = ownWindows.get(id)
    if (window === undefined || window.endsAtMs <= now) {
      window = { used: 0, endsAtMs: now + windowMs }
      ownWindows.set(id, window)
    }
    const granted = window.used < limit
    if (granted) window.used += 1
    return { granted, limit, remaining: Math.max(0, limit - window.used), resetMs: window.endsAtMs - now }
  }

  return async id => {
    const grant = await breaker.attempt(async () => {
      const first = await turns.takeRequest(id)
      if (first !== undefined) return first
      // Redis does not know the organization (it lost its data, or is not told yet): tell it, and ask again.
      await publishOrganizations(parts, [id]).catch(() => undefined)
      return turns.takeRequest(id)
    })
    return grant ?? takeHere(id)
  }
}
