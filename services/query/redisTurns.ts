import type { EventId, OrganizationId } from '@tally/contract'
import { getOrInsertComputed } from '@tally/core'
import { readPublishedAsOf, type RedisClient, type RedisKeys } from '@tally/read-models'
import type { RateLimits } from '@tally/runtime'
import { Cluster } from 'ioredis'
import type { Breaker } from './breaker.ts'

/**
 * What scripts/takeRequests.2.lua answers for requests that were taken together; null where Redis does not know the
 * organization's status.
 */
export type Taken = [granted: number, limit: number, remaining: number, resetMs: number] | null

/**
 * What every hot request asks Redis for. Requests that come together make one turn: one round trip, one read of each
 * question, event and shard, and one script call for each organization, so that neither Redis nor this process works
 * more because more devices poll the same event. A turn goes out once all that had arrived has joined it and the one
 * before is answered, or has failed; in a cluster after 5 ms at the latest, so that a slow node does not hold up the
 * others.
 */
export type RedisTurns = {
  /**
   * Takes one request from an organization's window, together with the others of the turn, of which it is the one at
   * `index`; undefined where Redis does not answer.
   */
  takeRequest(id: OrganizationId): { index: number; taken: Promise<Taken | undefined> }
  /**
   * Reads once for all that ask the same question with the same key in one turn (both told by identity). The read begins
   * when the turn goes out, never before one of them has asked: nobody is told less than another process told it before.
   * The turn is still open then: every `asOf` and `revision` that `read` asks for before its first `await` is part of it.
   */
  readOnce<Reply>(question: object, by: object, read: () => Promise<Reply>): Promise<Reply>
  /** The moments up to which the topics of a shard are counted: the earliest, null where one is missing. */
  asOf(shard: number): Promise<number | null>
  /**
   * The revision of an event in Redis, undefined where it does not have the event. Of a moment not before the `asOf` of
   * its shard that was asked for in the same turn.
   */
  revision(id: EventId, shard: number): Promise<number | undefined>
}

/** The length of a window of the rate limit. */
export const windowMs = 60_000

/** How long a turn waits for the one before in a cluster: many times what its nodes take. */
const patienceMs = 5

type Turn = {
  takers: Map<OrganizationId, Waiter<Taken | undefined> & { count: number }>
  moments: Map<number, Waiter<number | null>>
  revisions: Map<EventId, Waiter<number | undefined> & { shard: number }>
  /** By question, by who asks it. */
  replies: Map<object, Map<object, Promise<unknown>>>
  reads: (() => void)[]
}
type Waiter<Reply> = PromiseWithResolvers<Reply>

const newTurn = (): Turn => ({
  takers: new Map(),
  moments: new Map(),
  revisions: new Map(),
  replies: new Map(),
  reads: [],
})

export function openRedisTurns(
  {
    redis,
    keys,
    topics,
    breaker,
  }: { redis: RedisClient; keys: RedisKeys; topics: string[]; breaker: Breaker },
  limits: RateLimits,
): RedisTurns {
  const isCluster = redis instanceof Cluster
  const limitPairs = Object.entries(limits).flat()
  /** Who came since the last turn went out. */
  let turn: Turn | undefined
  /** The turn that was sent last, until it is answered or the patience ends; while it is set nothing is sent. */
  let unanswered: Turn | undefined

  const takeRequests = ({ takers }: Turn) =>
    [...takers].map(([id, group]) =>
      settle(group, () =>
        breaker.attempt(async () =>
          redis.takeRequests(keys.window(id), keys.organization(id), windowMs, group.count, ...limitPairs),
        ),
      ),
    )

  const readMoments = ({ moments }: Turn) =>
    [...moments].map(([shard, waiter]) =>
      settle(waiter, async () => readPublishedAsOf({ redis, keys }, topics, shard)),
    )

  const readRevisions = ({ revisions, moments }: Turn) =>
    [...revisions].map(([id, waiter]) =>
      settle(waiter, async () => {
        // One connection answers in the order asked; the nodes of a cluster do not.
        if (isCluster) await moments.get(waiter.shard)?.promise.catch(() => undefined)
        const text = await redis.hget(keys.event(id), 'revision')
        return text === null ? undefined : Number(text)
      }),
    )

  /** Resolves when all is answered. */
  const ask = (turn: Turn) =>
    Promise.all([...takeRequests(turn), ...readMoments(turn), ...readRevisions(turn)])

  const send = (): void => {
    if (turn === undefined || unanswered !== undefined) return
    const sent = turn
    for (const read of sent.reads) read()
    turn = undefined
    unanswered = sent
    const sendNext = () => {
      clearTimeout(timer)
      if (unanswered !== sent) return
      unanswered = undefined
      setImmediate(send)
    }
    const timer = isCluster ? setTimeout(sendNext, patienceMs) : undefined
    void ask(sent).then(sendNext)
  }

  const current = (): Turn => {
    if (turn === undefined) {
      turn = newTurn()
      setImmediate(send)
    }
    return turn
  }

  return {
    takeRequest(id) {
      const group = getOrInsertComputed(current().takers, id, () => ({
        ...newWaiter<Taken | undefined>(),
        count: 0,
      }))
      return { index: group.count++, taken: group.promise }
    },
    readOnce<Reply>(question: object, by: object, read: () => Promise<Reply>) {
      const { replies, reads } = current()
      const reply = getOrInsertComputed(getOrInsertComputed(replies, question, newReplies), by, () => {
        const waiter = newWaiter<Reply>()
        reads.push(() => settle(waiter, async () => read()))
        return waiter.promise
      })
      return reply as Promise<Reply>
    },
    asOf: shard => getOrInsertComputed(current().moments, shard, newWaiter<number | null>).promise,
    revision: (id, shard) =>
      getOrInsertComputed(current().revisions, id, () => ({ ...newWaiter<number | undefined>(), shard }))
        .promise,
  }
}

const newWaiter = <Reply>(): Waiter<Reply> => Promise.withResolvers<Reply>()
const newReplies = () => new Map<object, Promise<unknown>>()

/** Hands a reply, or why there is none, to who waits for it; also where the call itself throws. */
function settle<Reply>({ resolve, reject }: Waiter<Reply>, call: () => Promise<Reply>): Promise<void> {
  return call().then(resolve, reject)
}
