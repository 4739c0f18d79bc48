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
import { type RedisTurns, type Taken, windowMs } from './redisTurns.ts'

/** Used if the organization has no record. Keys exist only for known organizations, so this does not happen. */
const unknownStatus: OrganizationStatus = 'Trial'
/** Without Redis: how long a status is valid, so that the limit costs one query per organization and second. */
const statusMs = 1_000

/** What the rate limit says to one request (decisions.md, Rate limit). */
export type Grant = { granted: boolean; limit: number; remaining: number; resetMs: number }
export type RateLimiter = (organizationId: OrganizationId) => Promise<Grant>

/**
 * Counts requests per organization in Redis, exact over all query processes: status, window and count are one
 * script. With Redis down, each process counts for itself (decisions.md, When a part is down); with
 * Postgres down as well no limit is known, and the request is a `service-unavailable`.
 */
export function openRateLimiter(
  parts: {
    db: Postgres
    redis: RedisClient
    keys: RedisKeys
    turns: RedisTurns
    breaker: Pick<Breaker, 'rely'>
  },
  limits: RateLimits,
): RateLimiter {
  const { db, turns, breaker } = parts
  const ownWindows = new LRUCache<OrganizationId, { used: number; endsAtMs: number }>({ max: 100_000 })
  const readStatus = onceInAWhile(async id => (await readOrganizationHead(db, id))?.status ?? unknownStatus)
  const publish = onceInAWhile(id => publishOrganizations(parts, [id]))

  const takeHere = async (id: OrganizationId): Promise<Grant> => {
    const status = await readStatus(id).catch(() => {
      throw unavailable()
    })
    const limit = limits[status]
    const now = performance.now()
    let window = ownWindows.get(id)
    if (window === undefined || window.endsAtMs <= now) {
      window = { used: 0, endsAtMs: now + windowMs }
      ownWindows.set(id, window)
    }
    const granted = window.used < limit
    if (granted) window.used += 1
    return { granted, limit, remaining: Math.max(0, limit - window.used), resetMs: window.endsAtMs - now }
  }

  /** Remembers what Redis said of a window, so that a process that has to count for itself goes on from there. */
  const note = (id: OrganizationId, [, limit, remaining, resetMs]: NonNullable<Taken>): void =>
    void ownWindows.set(id, { used: limit - remaining, endsAtMs: performance.now() + resetMs })

  /** If Redis lost its data or does not know the organization yet: publishes it and asks again. */
  const publishAndTake = async (id: OrganizationId): Promise<Grant> => {
    await publish(id).catch(() => undefined)
    const { index, taken } = turns.takeRequest(id)
    const again = await taken
    return again ? grantOf(again, index) : takeHere(id)
  }

  /** If Postgres does not answer: asks Redis again, which may have been too slow only once. */
  const takeAgain = async (id: OrganizationId, error: unknown): Promise<Grant> => {
    breaker.rely()
    const { index, taken } = turns.takeRequest(id)
    const again = await taken
    if (!again) throw error
    return grantOf(again, index)
  }

  return id => {
    const { index, taken } = turns.takeRequest(id)
    return taken.then(reply => {
      if (reply === undefined) return takeHere(id).catch(error => takeAgain(id, error))
      if (reply === null) return publishAndTake(id)
      // Once for all that asked together.
      if (index === 0) note(id, reply)
      return grantOf(reply, index)
    })
  }
}

/** The share of the request at `index` among those that asked together: the first ones are granted. */
function grantOf([granted, limit, remaining, resetMs]: NonNullable<Taken>, index: number): Grant {
  return { granted: index < granted, limit, remaining: remaining + Math.max(0, granted - index - 1), resetMs }
}

/** Shares one call per organization among all requests within a second of its start; a failure is not kept. */
function onceInAWhile<Result>(
  call: (id: OrganizationId) => Promise<Result>,
): (id: OrganizationId) => Promise<Result> {
  const kept = new LRUCache<OrganizationId, Promise<Result>>({ max: 10_000, ttl: statusMs })
  return id => {
    const known = kept.get(id)
    if (known !== undefined) return known
    const result = call(id)
    kept.set(id, result)
    result.catch(() => kept.delete(id))
    return result
  }
}
