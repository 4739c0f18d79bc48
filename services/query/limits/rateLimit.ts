import type { Taken } from '@tally/access'
import type { OrganizationId, OrganizationStatus } from '@tally/contract'
import { readOrganizationHead } from '@tally/figures'
import { type Postgres, type RateLimits, timeout } from '@tally/platform'
import { LRUCache } from 'lru-cache'
import { unavailable } from '../http/problems.ts'
import { windowMs } from '../redis/askBatch.ts'
import type { Breaker } from '../redis/breaker.ts'
import type { RequestBatches } from '../redis/requestBatches.ts'
import type { LimitDecision } from './limitDecision.ts'

/** Used if the organization has no record. Keys exist only for known organizations, so this does not happen. */
const unknownStatus: OrganizationStatus = 'Trial'
/** Without Redis: how long a status is valid, so that the limit costs one query per organization and second. */
const statusMs = 1_000
/** Without Redis: how long Postgres may take before the last known limit is used, or Redis is asked again. */
const slowMs = 500

type Window = { used: number; limit: number; endsAtMs: number }

export type RateLimiter = {
  /** Takes one request from an organization's window. */
  take(id: OrganizationId): Promise<LimitDecision>
  /**
   * The decision of the request at `index` of those that one batch took together; a promise if Redis did not answer, or
   * does not know the organization, which is then published. Call it for each of them.
   */
  decision(
    id: OrganizationId,
    index: number,
    taken: Taken | undefined,
  ): LimitDecision | Promise<LimitDecision>
}

/**
 * Counts requests per organization in Redis, exactly over all query processes: one script reads the status and counts
 * in the window. If Redis is down or has lost the organization, each process counts on its own: no decision waits for
 * a list of events (docs/reliability.md, When a part is down). If Postgres is down too, the last known limit applies;
 * without one the request is a `service-unavailable`.
 */
export function createRateLimiter(
  deps: {
    db: Postgres
    batches: RequestBatches
    breaker: Pick<Breaker, 'forceClosed' | 'refusesWrites'>
    /** Publishes an organization that Redis lacks, in the background. */
    repair: (id: OrganizationId) => void
  },
  limits: RateLimits,
): RateLimiter {
  const { db, batches, breaker } = deps
  const ownWindows = new LRUCache<OrganizationId, Window>({ max: 20_000 })
  const readStatus = onceInAWhile(async id => (await readOrganizationHead(db, id))?.status ?? unknownStatus)
  const repair = onceInAWhile(async id => deps.repair(id))

  const readLimit = (id: OrganizationId): Promise<number> => {
    const last = ownWindows.get(id)
    const limit = readStatus(id).then(status => limits[status])
    return last === undefined ? limit : timeout(slowMs, limit).catch(() => last.limit)
  }

  const takeHere = async (id: OrganizationId): Promise<LimitDecision> => {
    const limit = await readLimit(id)
    const now = performance.now()
    const last = ownWindows.get(id)
    const isOver = last === undefined || last.endsAtMs <= now
    const window = isOver ? { used: 0, limit, endsAtMs: now + windowMs } : last
    window.limit = limit
    ownWindows.set(id, window)
    const allowed = window.used < limit
    if (allowed) window.used += 1
    return { allowed, limit, remaining: Math.max(0, limit - window.used), resetMs: window.endsAtMs - now }
  }

  /** Remembers a window as Redis has it, so that a process that must count on its own continues from there. */
  const note = (id: OrganizationId, [, limit, remaining, resetMs]: NonNullable<Taken>): void => {
    const [used, endsAtMs] = [limit - remaining, performance.now() + resetMs]
    const known = ownWindows.get(id)
    if (known === undefined) ownWindows.set(id, { used, limit, endsAtMs })
    else Object.assign(known, { used, limit, endsAtMs })
  }

  /** Only raises what is used in a window that goes on: what is taken here is not in Redis. */
  const noteRefusal = (id: OrganizationId, taken: NonNullable<Taken>): void => {
    const known = ownWindows.get(id)
    if (known === undefined || known.endsAtMs <= performance.now()) note(id, taken)
    else known.used = Math.max(known.used, taken[1] - taken[2])
  }

  const takeAgain = async (id: OrganizationId): Promise<LimitDecision> => {
    breaker.forceClosed()
    const { index, taken } = batches.takeRequest(id)
    const again = await taken
    if (!again) throw unavailable()
    return decisionAt(again, index)
  }

  /**
   * If Postgres fails or is slow too, the last known limit applies. Without one, Redis is asked again: it may have been
   * too slow only for a moment.
   */
  const takeWithoutRedis = (id: OrganizationId): Promise<LimitDecision> => {
    const here = takeHere(id)
    if (ownWindows.has(id)) return here
    const again = timeout(slowMs, here).catch(() => takeAgain(id))
    return Promise.any([here, again]).catch(() => {
      throw unavailable()
    })
  }

  const decision: RateLimiter['decision'] = (id, index, taken) => {
    if (taken === null) void repair(id)
    if (taken == null) return takeWithoutRedis(id)
    // A refusal writes nothing. While Redis refuses writes, its status is old and its count lacks what is taken here.
    if (taken[0] === 0 && breaker.refusesWrites) {
      noteRefusal(id, taken)
      return takeWithoutRedis(id)
    }
    // Once for all requests of the batch.
    if (index === 0) note(id, taken)
    return decisionAt(taken, index)
  }
  return {
    take(id) {
      const { index, taken } = batches.takeRequest(id)
      return taken.then(reply => decision(id, index, reply))
    },
    decision,
  }
}

/** The decision of the request at `index` of a batch: the first `allowed` ones are allowed. */
function decisionAt([allowed, limit, remaining, resetMs]: NonNullable<Taken>, index: number): LimitDecision {
  return { allowed: index < allowed, limit, remaining: remaining + Math.max(0, allowed - index - 1), resetMs }
}

/** Shares one call per organization among all requests within a second of its start; failures are not kept. */
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
