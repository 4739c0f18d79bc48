import type { EventAnswer, OrganizationId } from '@tally/contract'
import { isTransient } from '@tally/platform'
import { composeOrganization, type ReadModel } from '@tally/publication'
import { LRUCache } from 'lru-cache'
import { failureOf } from '../http/problems.ts'
import type { Allowance } from '../limits/limitDecision.ts'
import type { SharedReads } from '../postgres/sharedReads.ts'
import type { Breaker } from '../redis/breaker.ts'
import { raceWithRetries } from './raceWithRetries.ts'

export type EventList = {
  /**
   * All events of an organization in the API's order. Throws `service-unavailable` if neither Redis nor Postgres can
   * answer. Asks Postgres, and remembers what it read, only with the allowance.
   */
  read(id: OrganizationId, allowance: Allowance): Promise<EventAnswer[]>
  /** Their ids, from Redis only; undefined if it does not have them. */
  listed(id: OrganizationId): Promise<string[] | undefined>
}

type List = { revision: number; events: EventAnswer[]; isStale: boolean }

/** Reads the list of events from Redis, or from Postgres if Redis is down, empty, behind or refuses writes. */
export function createEventList(
  deps: ReadModel & {
    breaker: Breaker
    shared: SharedReads
    /** Whether Redis is behind Postgres (watermarks.ts). */
    isRedisStale: () => Promise<boolean>
    /** Publishes an organization that Redis lacks, in the background. */
    repair: (id: OrganizationId) => void
    onFailure: (error: unknown) => void
  },
): EventList {
  const { db, redis, keys, breaker, shared, isRedisStale, repair, onFailure } = deps
  /** The revision that was last answered; Postgres may have gone back (memory.ts has the rules). */
  const latest = new LRUCache<OrganizationId, number>({ max: 10_000 })

  const fromRedis = (id: OrganizationId): Promise<List | 'missing' | undefined> =>
    breaker.attempt(async () => {
      const list = redis.hmget(keys.organization(id), 'revision', 'events')
      const [[revision, events], isStale] = await Promise.all([list, isRedisStale()])
      if (typeof revision !== 'string' || typeof events !== 'string') return 'missing'
      return { revision: Number(revision), events: JSON.parse(events) as EventAnswer[], isStale }
    })

  const fromPostgres = (id: OrganizationId): Promise<EventAnswer[]> =>
    shared.share(id, 'events', undefined, async () => {
      const before = latest.peek(id)
      const document = await composeOrganization(db, id)
      const now = latest.peek(id)
      const revision = document?.revision ?? 0
      latest.set(id, now === before ? revision : Math.max(now ?? 0, revision))
      return document?.events ?? []
    })

  /** The events if the list of Redis is as new as it should be. */
  const current = (id: OrganizationId, hot: List | 'missing' | undefined): EventAnswer[] | undefined => {
    if (typeof hot !== 'object' || hot.isStale || breaker.refusesWrites) return
    if (hot.revision < (latest.peek(id) ?? 0)) return
    latest.set(id, hot.revision)
    return hot.events
  }

  return {
    async read(id, allowance) {
      const hot = await fromRedis(id)
      await allowance
      const now = current(id, hot)
      if (now !== undefined) return now
      try {
        const events = await raceWithRetries(fromPostgres(id), async () => current(id, await fromRedis(id)))
        if (hot === 'missing') repair(id)
        return events
      } catch (error) {
        onFailure(error)
        if (typeof hot === 'object') return hot.events
        // As in eventViews.ts: neither a Postgres that is only busy nor a defect is a reason to wait for Redis.
        if (isTransient(error)) breaker.forceClosed()
        const again = await fromRedis(id)
        if (typeof again === 'object') return again.events
        throw failureOf(error)
      }
    },
    async listed(id) {
      const hot = await fromRedis(id)
      return typeof hot === 'object' ? hot.events.map(({ id }) => id) : undefined
    },
  }
}
