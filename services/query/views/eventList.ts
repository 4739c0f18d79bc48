import type { EventAnswer, OrganizationId } from '@tally/contract'
import {
  composeOrganization,
  type Postgres,
  publishOrganizations,
  type RedisClient,
  type RedisKeys,
} from '@tally/read-models'
import { LRUCache } from 'lru-cache'
import type { Breaker } from '../breaker.ts'
import { unavailable } from '../http/problems.ts'

export type EventList = {
  /** All events of an organization in the API's order. Throws `service-unavailable` where no part can tell. */
  read(id: OrganizationId): Promise<EventAnswer[]>
  /** Their ids, from Redis only; undefined where it does not have them. */
  listed(id: OrganizationId): Promise<string[] | undefined>
}

/** Reads the list of events from Redis, and from Postgres where Redis is down, empty or behind. */
export function openEventList(parts: {
  db: Postgres
  redis: RedisClient
  keys: RedisKeys
  breaker: Breaker
  onFailure: (error: unknown) => void
}): EventList {
  const { db, redis, keys, breaker, onFailure } = parts
  const latest = new LRUCache<OrganizationId, number>({ max: 10_000 })

  const fromRedis = (id: OrganizationId): Promise<EventAnswer[] | undefined> =>
    breaker.attempt(async () => {
      const [revision, events] = await redis.hmget(keys.organization(id), 'revision', 'events')
      if (typeof revision !== 'string' || typeof events !== 'string') return undefined
      if (Number(revision) < (latest.get(id) ?? 0)) return undefined
      latest.set(id, Number(revision))
      return JSON.parse(events) as EventAnswer[]
    })

  const fromPostgres = async (id: OrganizationId): Promise<EventAnswer[]> => {
    const document = await composeOrganization(db, id)
    if (document === undefined) return []
    latest.set(id, Math.max(document.revision, latest.get(id) ?? 0))
    void breaker.attempt(() => publishOrganizations(parts, [id]))
    return document.events
  }

  return {
    read: async id =>
      (await fromRedis(id)) ??
      fromPostgres(id).catch(error => {
        onFailure(error)
        throw unavailable()
      }),
    listed: async id => (await fromRedis(id))?.map(({ id }) => id),
  }
}
