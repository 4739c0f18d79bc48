import type { EventId, OrganizationId } from '@tally/contract'
import { readPublishedAsOf, type RedisClient, type RedisKeys } from '@tally/read-models'
import type { RateLimits } from '@tally/runtime'
import { Cluster } from 'ioredis'

/** What the rate limit says to one request (decisions.md, Rate limit). */
export type Grant = { granted: boolean; limit: number; remaining: number; resetMs: number }

/**
 * What every hot request asks Redis for. All requests of one turn of the event loop share one round trip, one read
 * of each event and shard, and one script call for each organization: neither Redis nor this process works more
 * because more devices poll the same event.
 */
export type RedisTurns = {
  /** Takes one request from an organization's window; undefined where Redis does not know its status. */
  takeRequest(id: OrganizationId): Promise<Grant | undefined>
  /** The moments up to which the topics of a shard are counted: the earliest, null where one is missing. */
  asOf(shard: number): Promise<number | null>
  /** The revision of an event in Redis, undefined where it does not have the event. Of a moment not before `asOf`. */
  revision(id: EventId): Promise<number | undefined>
}

/** The length of a window of the rate limit. */
export const windowMs = 60_000

/** What scripts/takeRequests.2.lua answers. */
type Taken = [granted: number, limit: number, remaining: number, resetMs: number]

type Turn = {
  takers: Map<OrganizationId, PromiseWithResolvers<Grant | undefined>[]>
  moments: Map<number, PromiseWithResolvers<number | null>>
  revisions: Map<EventId, PromiseWithResolvers<number | undefined>>
}

export function openRedisTurns(
  { redis, keys, topics }: { redis: RedisClient; keys: RedisKeys; topics: string[] },
  limits: RateLimits,
): RedisTurns {
  const limitPairs = Object.entries(limits).flat()
  let turn: Turn | undefined

  const readMoments = ({ moments }: Turn) =>
    [...moments].map(([shard, waiter]) =>
      settle(waiter, async () => readPublishedAsOf({ redis, keys }, topics, shard)),
    )

  const readRevisions = ({ revisions }: Turn) =>
    [...revisions].map(([id, waiter]) =>
      settle(waiter, async () => {
        const text = await redis.hget(keys.event(id), 'revision')
        return text === null ? undefined : Number(text)
      }),
    )

  const takeRequests = ({ takers }: Turn) => {
    for (const [id, waiting] of takers) {
      const taken = Promise.withResolvers<Taken | null>()
      void settle(taken, async () =>
        redis.takeRequests(keys.window(id), keys.organization(id), windowMs, waiting.length, ...limitPairs),
      )
      for (const [index, waiter] of waiting.entries()) {
        void settle(waiter, async () => {
          const reply = await taken.promise
          return reply === null ? undefined : grantOf(reply, index)
        })
      }
    }
  }

  const ask = async (turn: Turn): Promise<void> => {
    takeRequests(turn)
    const moments = readMoments(turn)
    // One connection answers in the order asked; the nodes of a cluster do not.
    if (redis instanceof Cluster) await Promise.allSettled(moments)
    readRevisions(turn)
  }

  const current = (): Turn => {
    if (turn === undefined) {
      const begun: Turn = { takers: new Map(), moments: new Map(), revisions: new Map() }
      turn = begun
      setImmediate(() => {
        turn = undefined
        void ask(begun)
      })
    }
    return turn
  }

  return {
    takeRequest(id) {
      const { takers } = current()
      const waiter = Promise.withResolvers<Grant | undefined>()
      const waiting = takers.get(id)
      if (waiting === undefined) takers.set(id, [waiter])
      else waiting.push(waiter)
      return waiter.promise
    },
    asOf: shard => once(current().moments, shard),
    revision: id => once(current().revisions, id),
  }
}

function once<Key, Reply>(asked: Map<Key, PromiseWithResolvers<Reply>>, key: Key): Promise<Reply> {
  const waiter = asked.get(key) ?? Promise.withResolvers<Reply>()
  asked.set(key, waiter)
  return waiter.promise
}

/** Hands a reply, or why there is none, to who waits for it; also where the call itself throws. */
function settle<Reply>(
  { resolve, reject }: PromiseWithResolvers<Reply>,
  call: () => Promise<Reply>,
): Promise<void> {
  return call().then(resolve, reject)
}

/** The share of the request at `index` among those that asked together: the first ones are granted. */
function grantOf([granted, limit, remaining, resetMs]: Taken, index: number): Grant {
  return { granted: index < granted, limit, remaining: remaining + Math.max(0, granted - index - 1), resetMs }
}
