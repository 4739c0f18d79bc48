import type { Taken } from '@tally/access'
import type { EventId, OrganizationId } from '@tally/contract'
import { getOrInsertComputed } from '@tally/core'
import type { EventVersion, ShardHash } from '@tally/read-models'
import { type Grant, type Permit, permitOf } from '../permit.ts'
import { Waiter } from './waiter.ts'

/** What the requests of one batch ask Redis for, each thing once. */
export type Batch = {
  takers: Map<OrganizationId, Taker>
  shards: Map<number, ShardWaiter>
  events: Map<EventId, EventWaiter>
  /** By question, then by key. */
  replies: Map<object, Map<object, Promise<unknown>>>
  /** Begun when the batch goes out. */
  reads: (() => void)[]
  /** Called once the batch is answered, or too late. */
  polls: (() => void)[]
  /** How many requests have joined, to be taken from the windows of all organizations. */
  joined: number
}
/** The requests of an organization, which are taken together. */
class Taker extends Waiter<Taken | undefined> {
  count = 0
}
class ShardWaiter extends Waiter<ShardHash> {
  readonly events = new Set<EventId>()
}
class EventWaiter extends Waiter<EventVersion | undefined> {
  readonly shard: number
  constructor(shard: number) {
    super()
    this.shard = shard
  }
}

/** What a poll is about, and what it needs to know: its place in the rate limit, and whether its answer still holds. */
export type PollOf = { organizationId: OrganizationId; eventId: EventId; shard: number }
/**
 * Gets what a batch read for a poll, the one at `index` of those that were taken together; each undefined if Redis did
 * not answer.
 */
export type OnPolled = (
  index: number,
  taken: Taken | undefined,
  shard: ShardHash | undefined,
  version: EventVersion | undefined,
) => void

export const newBatch = (): Batch => ({
  takers: new Map(),
  shards: new Map(),
  events: new Map(),
  replies: new Map(),
  reads: [],
  polls: [],
  joined: 0,
})

export function joinTakers(
  batch: Batch,
  id: OrganizationId,
): { index: number; taken: Promise<Taken | undefined> } {
  const taker = takerOf(batch, id)
  return { index: taker.count++, taken: taker.promise }
}

/**
 * Joins a poll to the batch. With `together`, `onPolled` is called when the whole batch is answered; without, as soon
 * as the poll's own replies have arrived, so that in a cluster a slow node does not delay the polls of others.
 */
export function joinPoll(
  batch: Batch,
  { organizationId, eventId, shard }: PollOf,
  { onPolled, together }: { onPolled: OnPolled; together: boolean },
): void {
  const taker = takerOf(batch, organizationId)
  const hash = shardOf(batch, shard, eventId)
  const version = eventOf(batch, eventId, shard)
  const index = taker.count++
  const tell = () => onPolled(index, taker.reply, hash.reply, version.reply)
  if (together) batch.polls.push(tell)
  else void Promise.allSettled([taker.promise, hash.promise, version.promise]).then(tell)
}

/** Tells the polls of a batch what is known by now; what comes later is not told. */
export function tellPolls(batch: Batch): void {
  const { polls } = batch
  batch.polls = []
  for (const tell of polls) tell()
}

/** Joins the batch's read of the same question and key, or adds one. */
export function joinRead<Reply>(
  { replies, reads }: Batch,
  question: object,
  by: object,
  granting: Promise<Grant>,
  read: (permit: Permit) => Promise<Reply>,
): Promise<Reply> {
  const reply = getOrInsertComputed(getOrInsertComputed(replies, question, newReplies), by, () => {
    const waiter = new Waiter<Reply>()
    const permit = permitOf(granting)
    reads.push(() => settle(waiter, async () => read(permit)))
    return waiter.promise
  })
  return reply as Promise<Reply>
}

export const joinShard = (batch: Batch, shard: number, id: EventId): Promise<ShardHash> =>
  shardOf(batch, shard, id).promise

export const joinEvent = (batch: Batch, id: EventId, shard: number): Promise<EventVersion | undefined> =>
  eventOf(batch, id, shard).promise

/** Ends all waits of a batch that Redis does not answer in time; replies that come later change nothing. */
export function fail(batch: Batch, error: Error): void {
  for (const taker of batch.takers.values()) taker.resolve(undefined)
  for (const waiter of [...batch.shards.values(), ...batch.events.values()]) waiter.reject(error)
  tellPolls(batch)
}

/** Passes a reply, or its error, to the waiting requests; also if the call itself throws. */
export function settle<Reply>(waiter: Waiter<Reply>, call: () => Promise<Reply>): Promise<void> {
  return call().then(
    reply => waiter.resolve(reply),
    error => waiter.reject(error),
  )
}

/** Passes a result or an error to the waiting requests, if there are any. */
export function settleWith<Reply>(waiter: Waiter<Reply> | undefined, result: Reply | Error): void {
  if (result instanceof Error) waiter?.reject(result)
  else waiter?.resolve(result)
}

function takerOf(batch: Batch, id: OrganizationId): Taker {
  batch.joined += 1
  return getOrInsertComputed(batch.takers, id, newTaker)
}
function shardOf({ shards }: Batch, shard: number, id: EventId): ShardWaiter {
  const waiter = getOrInsertComputed(shards, shard, newShardWaiter)
  waiter.events.add(id)
  return waiter
}
const eventOf = ({ events }: Batch, id: EventId, shard: number): EventWaiter =>
  getOrInsertComputed(events, id, () => new EventWaiter(shard))

const newTaker = () => new Taker()
const newShardWaiter = () => new ShardWaiter()
const newReplies = () => new Map<object, Promise<unknown>>()
