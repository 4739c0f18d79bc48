import type { Taken } from '@tally/access'
import type { EventId, OrganizationId } from '@tally/contract'
import { getOrInsertComputed } from '@tally/figures'
import { deadline, type RateLimits } from '@tally/platform'
import { type EventVersion, eventRevisionField, type ShardHash } from '@tally/publication'
import { LRUCache } from 'lru-cache'
import { type AskDeps, createAskBatch } from './askBatch.ts'
import {
  type Batch,
  BatchedEvent,
  BatchedOrganization,
  BatchedShard,
  type CoalescedRead,
  fail,
  joinEvent,
  joinPoll,
  joinRead,
  joinShard,
  joinTakers,
  newBatch,
  notifyPolls,
  type OnPolled,
  type PollOf,
} from './batch.ts'
import { type Breaker, tooSlow } from './breaker.ts'

/**
 * What every hot request asks Redis for. Requests that arrive together make one request batch: one round trip, in which
 * each question, event, shard and rate-limit window is asked for once, so that more devices polling the same event cost
 * neither Redis nor this process more.
 */
export type RequestBatches = {
  /**
   * Takes one request from an organization's window, together with the others of the batch, of which it is the one at
   * `index`; undefined if Redis does not answer or refuses.
   */
  takeRequest(id: OrganizationId): { index: number; taken: Promise<Taken | undefined> }
  /** What a poll of an organization about an event asks for, made once for all its polls. */
  pollOf(about: { organizationId: OrganizationId; eventId: EventId; shard: number }): PollOf
  /** Takes one request, and reads the hash of the event's shard and the event's version; returns before `onPolled`. */
  poll(poll: PollOf, onPolled: OnPolled): void
  /**
   * Reads once for all requests with the same question and the same key in one batch. The read begins when the batch
   * goes out, never before any of them has asked, so that no client gets less than another process answered it before.
   * The batch is still open then: every `shard` and `event` that `read` asks for before its first `await` is part of
   * it. `read` gets the allowance of the first that asks. It rejects with LimitExceeded if that one is refused, even if
   * the limit allows another: in a new window, or if each process counts for itself.
   */
  coalesce<Reply>(read: CoalescedRead<Reply>): Promise<Reply>
  /** A shard's hash with the published revision of this event. */
  shard(shard: number, id: EventId): Promise<ShardHash>
  /** The revision and epoch of an event's hash, read after its shard's in the same batch; undefined without a hash. */
  event(id: EventId, shard: number): Promise<EventVersion | undefined>
}

/**
 * With one, requests, Redis and answers take turns when all clients wait for the same batch, and this process is idle
 * for a third of the time; each more makes batches smaller, and queues more behind a Redis that hangs.
 */
const mostUnanswered = 2

/**
 * A batch of fewer requests waits for the one before: each costs a write and a wake-up of Redis, whatever is in it. One
 * of so many polls does not even wait for other requests that have arrived: once all clients had been answered
 * together, their next requests would be one batch, and Redis and this process would take turns ever after.
 */
const largeBatch = 32

/** How long a small batch, or any in a cluster, waits for an earlier one: many times what Redis takes. */
const holdMs = 5

/** After this many slow batches in a row Redis is no longer asked: a single one may be a hiccup of this machine. */
const mostLate = 2

/** How long a batch may be unanswered before it gets a timer of its own; nearly all are answered within 1 ms. */
const briefMs = 20

/** Of how many organizations and events the keys are kept; what is evicted and asked for again is made again. */
const keptKeys = 20_000

/**
 * Requests join one batch until it goes out: as soon as all requests that have arrived have joined it, or 32 polls
 * have, unless two batches are unanswered. A batch of fewer than 32 requests waits even for one unanswered batch, but
 * for 5 ms at most. In a cluster no batch waits longer than that, so that a slow node does not delay the others. A
 * batch that has failed or is too slow no longer counts as unanswered.
 */
export function createRequestBatches(
  deps: AskDeps & {
    breaker: Breaker
    /** Called with the number of requests in each batch that goes out. */
    onBatch?: (requests: number) => void
  },
  limits: RateLimits,
): RequestBatches {
  const { redis, keys, breaker, onBatch } = deps
  const ask = createAskBatch(deps, limits)
  let batches = 0
  let collecting: Batch | undefined
  /** Batches that are neither answered nor too late. */
  const unanswered = new Set<Batch>()

  const send = (): void => {
    if (collecting === undefined || unanswered.size >= mostUnanswered) return
    const mayGo = unanswered.size === 0 || collecting.joined >= largeBatch
    if (mayGo) sendNow(collecting)
    else collecting.hold ??= setTimeout(sendNow, holdMs, collecting, holdMs)
  }

  const sendNow = (batch: Batch, heldMs = 0) => {
    clearTimeout(batch.hold)
    for (const read of batch.reads) read()
    collecting = undefined
    // Reads of requests that Redis has failed before say nothing about it.
    if (batch.takers.length + batch.shards.length === 0) return
    if (breaker.isOpen) return fail(batch, new Error('Redis is not asked: it was too slow'))
    unanswered.add(batch)
    if (batch.isCluster) batch.hold = setTimeout(sendNext, holdMs, batch)
    // Counted from when it went out or was held: before that, it waited for other batches, or for this process.
    waits.begin(batch, performance.now() - heldMs)
    onBatch?.(batch.joined)
    void ask(batch).then(() => {
      waits.end(batch)
      sendNext(batch)
      notifyPolls(batch)
    })
  }
  const sendNext = (batch: Batch) => {
    clearTimeout(batch.hold)
    if (unanswered.delete(batch)) setImmediate(send)
  }
  const waits = createWaits(breaker, batch => {
    fail(batch, tooSlow())
    if (breaker.isOpen) {
      // What has hung for two batches answers none of the others either.
      for (const other of unanswered) fail(other, tooSlow())
      unanswered.clear()
      send()
    }
    sendNext(batch)
  })

  const current = (): Batch => {
    if (collecting === undefined) {
      // Not known before Redis has answered.
      collecting = newBatch(++batches, redis.isCluster)
      setImmediate(send)
    }
    return collecting
  }

  const { organizations, eventOf } = createBatched(keys)
  return {
    pollOf: ({ organizationId, eventId, shard }) => ({
      organization: organizations.memo(organizationId),
      event: eventOf(eventId, shard),
    }),
    poll(poll, onPolled) {
      const batch = current()
      joinPoll(batch, poll, onPolled)
      // While the breaker is open `send` fails the batch at once, and `poll` has to return before `onPolled` is called.
      if (batch.joined >= largeBatch && !breaker.isOpen) send()
    },
    takeRequest(id) {
      const batch = current()
      const taken = joinTakers(batch, organizations.memo(id))
      // Not at once: what else this request asks for belongs to the same batch.
      if (batch.joined === largeBatch) setImmediate(send)
      return taken
    },
    coalesce: read => joinRead(current(), read),
    shard: (shard, id) => joinShard(current(), eventOf(id, shard)),
    event: (id, shard) => joinEvent(current(), eventOf(id, shard)),
  }
}

/** Ends the wait for a batch that Redis does not answer in time, and opens the breaker after some in a row. */
function createWaits(breaker: Breaker, onLate: (batch: Batch) => void) {
  /** When each batch is too late that is not answered yet; Infinity if it has a timer for that. */
  const waiting = new Map<Batch, number>()
  const state = { look: undefined as NodeJS.Timeout | undefined, lateInARow: 0 }
  const giveUp = (batch: Batch) => {
    if (!waiting.delete(batch)) return
    if (++state.lateInARow >= mostLate) breaker.trip()
    onLate(batch)
  }
  const look = () => {
    state.look = undefined
    for (const [batch, dueMs] of waiting) {
      waiting.set(batch, Number.POSITIVE_INFINITY)
      if (Number.isFinite(dueMs)) deadline(dueMs, 0, () => giveUp(batch))
    }
  }
  return {
    begin(batch: Batch, sinceMs: number): void {
      waiting.set(batch, sinceMs + breaker.timeoutMs)
      state.look ??= setTimeout(look, briefMs)
    },
    end(batch: Batch): void {
      if (waiting.delete(batch)) state.lateInARow = 0
    },
  }
}

/** What batches ask Redis about, made once. */
function createBatched(keys: AskDeps['keys']) {
  const organizations = new LRUCache<OrganizationId, BatchedOrganization>({
    max: keptKeys,
    memoMethod: id =>
      new BatchedOrganization(id, { window: keys.window(id), organization: keys.organization(id) }),
  })
  const shards = new Map<number, BatchedShard>()
  const shardOf = (shard: number) =>
    getOrInsertComputed(shards, shard, () => new BatchedShard(shard, keys.shard(shard)))
  const events = new LRUCache<EventId, BatchedEvent>({ max: keptKeys })
  const eventOf = (id: EventId, shard: number): BatchedEvent => {
    const known = events.get(id)
    // An event that was lost may come back through another shard.
    if (known?.shard.number === shard) return known
    const event = new BatchedEvent(id, shardOf(shard), { key: keys.event(id), field: eventRevisionField(id) })
    events.set(id, event)
    return event
  }
  return { organizations, eventOf }
}
