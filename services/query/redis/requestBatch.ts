import type { AccessKeys, AccessRedis } from '@tally/access'
import type { EventId, OrganizationId } from '@tally/contract'
import { getOrInsertComputed } from '@tally/core'
import type { RedisKeys } from '@tally/read-models'
import { type EventVersion, readShardHash, type ShardHash } from '@tally/read-models'
import type { RateLimits } from '@tally/runtime'
import { Cluster } from 'ioredis'
import { type Grant, type Permit, permitOf } from '../permit.ts'
import type { Breaker } from './breaker.ts'

/**
 * What scripts/takeRequests.2.lua answers for requests that were taken together; null if Redis does not know the
 * organization's status.
 */
export type Taken = [granted: number, limit: number, remaining: number, resetMs: number] | null

/**
 * What every hot request asks Redis for. Requests that come together make one request batch: one round trip, one read
 * of each question, event and shard, and one script call per organization, so that more devices polling the same event
 * cost neither Redis nor this process more. A batch goes out when all requests that had arrived have joined it and the
 * one before was answered, has failed or is too slow; in a cluster after 5 ms at the latest, so that a slow node does
 * not delay the others.
 */
export type RedisTurns = {
  /**
   * Takes one request from an organization's window, together with the others of the batch, of which it is the one at
   * `index`; undefined if Redis does not answer or refuses.
   */
  takeRequest(id: OrganizationId): { index: number; taken: Promise<Taken | undefined> }
  /**
   * Reads once for all requests with the same question and the same key in one batch (both compared by identity). The
   * read begins when the batch goes out, never before any of them has asked, so that no client gets less than another
   * process answered it before. The batch is still open then: every `shard` and `event` that `read` asks for before its
   * first `await` is part of it. `read` gets the permit of the first that asks: the rate limit grants in the order of
   * asking, so that if it refuses the first it refuses all.
   */
  readOnce<Reply>(
    question: object,
    by: object,
    granting: Promise<Grant>,
    read: (permit: Permit) => Promise<Reply>,
  ): Promise<Reply>
  /** A shard's hash with the published revision of this event. */
  shard(shard: number, id: EventId): Promise<ShardHash>
  /** The revision and epoch of an event's hash, read after its shard's hash of the same batch; undefined without a hash. */
  event(id: EventId, shard: number): Promise<EventVersion | undefined>
}

/** The length of a window of the rate limit. */
export const windowMs = 60_000

/** How long a batch waits for the one before in a cluster: many times what its nodes take. */
const clusterPatienceMs = 5

/**
 * Consecutive batches that must be too slow before Redis is not asked any more: a single one may be a hiccup of this
 * machine.
 */
const mostLate = 2

type Turn = {
  sinceMs: number
  takers: Map<OrganizationId, Waiter<Taken | undefined> & { count: number }>
  shards: Map<number, Waiter<ShardHash> & { events: Set<EventId> }>
  events: Map<EventId, Waiter<EventVersion | undefined> & { shard: number }>
  /** By question, by who asks it. */
  replies: Map<object, Map<object, Promise<unknown>>>
  reads: (() => void)[]
}
type Waiter<Reply> = PromiseWithResolvers<Reply>

const newTurn = (): Turn => ({
  sinceMs: performance.now(),
  takers: new Map(),
  shards: new Map(),
  events: new Map(),
  replies: new Map(),
  reads: [],
})

export function openRedisTurns(
  {
    redis,
    keys,
    topics,
    breaker,
  }: {
    redis: AccessRedis
    keys: RedisKeys & AccessKeys
    topics: string[]
    breaker: Breaker
  },
  limits: RateLimits,
): RedisTurns {
  const isCluster = redis instanceof Cluster
  const limitPairs = Object.entries(limits).flat()
  /** The requests since the last batch went out. */
  let turn: Turn | undefined
  /** The last batch, until it is answered or times out; while it is set, nothing is sent. */
  let unanswered: Turn | undefined
  let lateInARow = 0

  const takeRequests = ({ takers }: Turn) =>
    [...takers].map(async ([id, group]) => {
      try {
        const taken = await redis.takeRequests(
          keys.window(id),
          keys.organization(id),
          windowMs,
          group.count,
          ...limitPairs,
        )
        // A batch that is refused as a whole makes no write.
        if (taken !== null && taken[0] > 0) breaker.noteWrite()
        group.resolve(taken)
      } catch (error) {
        breaker.noteWrite(error)
        group.resolve(undefined)
      }
    })

  const readShards = ({ shards }: Turn) =>
    [...shards].map(([shard, waiter]) =>
      settle(waiter, () => readShardHash({ redis, keys }, topics, shard, [...waiter.events])),
    )

  const readEvents = ({ events, shards }: Turn) =>
    [...events].map(([id, waiter]) =>
      settle(waiter, async () => {
        // One connection answers in the order asked; the nodes of a cluster do not.
        if (isCluster) await shards.get(waiter.shard)?.promise.catch(() => undefined)
        const [revision, epoch] = await redis.hmget(keys.event(id), 'revision', 'epoch')
        return typeof revision === 'string'
          ? { revision: Number(revision), epoch: Number(epoch ?? 0) }
          : undefined
      }),
    )

  /** Resolves when all is answered. */
  const ask = (turn: Turn) => Promise.all([...takeRequests(turn), ...readShards(turn), ...readEvents(turn)])

  const fail = ({ takers, shards, events }: Turn, error: Error) => {
    for (const group of takers.values()) group.resolve(undefined)
    for (const waiter of [...shards.values(), ...events.values()]) waiter.reject(error)
  }

  const send = (): void => {
    if (turn === undefined || unanswered !== undefined) return
    const sent = turn
    for (const read of sent.reads) read()
    turn = undefined
    if (breaker.isOpen()) {
      fail(sent, new Error('Redis is not asked: it was too slow'))
      return
    }
    unanswered = sent
    const sendNext = () => {
      clearTimeout(timer)
      if (unanswered !== sent) return
      unanswered = undefined
      setImmediate(send)
    }
    const timer = isCluster ? setTimeout(sendNext, clusterPatienceMs) : undefined
    const cancel = breaker.deadline(sent.sinceMs, () => {
      lateInARow += 1
      if (lateInARow >= mostLate) breaker.trip()
      fail(sent, new Error('Redis is too slow'))
      sendNext()
    })
    void ask(sent).then(() => {
      if (cancel()) lateInARow = 0
      sendNext()
    })
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
    readOnce<Reply>(
      question: object,
      by: object,
      granting: Promise<Grant>,
      read: (permit: Permit) => Promise<Reply>,
    ) {
      const { replies, reads } = current()
      const reply = getOrInsertComputed(getOrInsertComputed(replies, question, newReplies), by, () => {
        const waiter = newWaiter<Reply>()
        const permit = permitOf(granting)
        reads.push(() => settle(waiter, async () => read(permit)))
        return waiter.promise
      })
      return reply as Promise<Reply>
    },
    shard(shard, id) {
      const waiter = getOrInsertComputed(current().shards, shard, () => ({
        ...newWaiter<ShardHash>(),
        events: new Set<EventId>(),
      }))
      waiter.events.add(id)
      return waiter.promise
    },
    event: (id, shard) =>
      getOrInsertComputed(current().events, id, () => ({ ...newWaiter<EventVersion | undefined>(), shard }))
        .promise,
  }
}

const newWaiter = <Reply>(): Waiter<Reply> => Promise.withResolvers<Reply>()
const newReplies = () => new Map<object, Promise<unknown>>()

/** Passes a reply, or its error, to the waiting request; also if the call itself throws. */
function settle<Reply>({ resolve, reject }: Waiter<Reply>, call: () => Promise<Reply>): Promise<void> {
  return call().then(resolve, reject)
}
