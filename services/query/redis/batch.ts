import type { Taken } from '@tally/access'
import type { EventId, OrganizationId } from '@tally/contract'
import { getOrInsertComputed } from '@tally/core'
import type { EventVersion, ShardHash } from '@tally/read-models'
import { type Grant, type Permit, permitOf } from '../permit.ts'

/** What the requests of one batch ask Redis for, each thing once, with the promises that they wait for. */
export type Batch = {
  sinceMs: number
  takers: Map<OrganizationId, Waiter<Taken | undefined> & { count: number }>
  shards: Map<number, Waiter<ShardHash> & { events: Set<EventId> }>
  events: Map<EventId, Waiter<EventVersion | undefined> & { shard: number }>
  /** By question, then by key. */
  replies: Map<object, Map<object, Promise<unknown>>>
  /** Begun when the batch goes out. */
  reads: (() => void)[]
}
export type Waiter<Reply> = PromiseWithResolvers<Reply>

export const newBatch = (): Batch => ({
  sinceMs: performance.now(),
  takers: new Map(),
  shards: new Map(),
  events: new Map(),
  replies: new Map(),
  reads: [],
})

export function joinTakers(
  { takers }: Batch,
  id: OrganizationId,
): { index: number; taken: Promise<Taken | undefined> } {
  const group = getOrInsertComputed(takers, id, () => ({ ...newWaiter<Taken | undefined>(), count: 0 }))
  return { index: group.count++, taken: group.promise }
}

/** How many requests a batch takes from the windows of all organizations. */
export function requestsOf({ takers }: Batch): number {
  let requests = 0
  for (const { count } of takers.values()) requests += count
  return requests
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
    const waiter = newWaiter<Reply>()
    const permit = permitOf(granting)
    reads.push(() => settle(waiter, async () => read(permit)))
    return waiter.promise
  })
  return reply as Promise<Reply>
}

export function joinShard({ shards }: Batch, shard: number, id: EventId): Promise<ShardHash> {
  const waiter = getOrInsertComputed(shards, shard, () => ({
    ...newWaiter<ShardHash>(),
    events: new Set<EventId>(),
  }))
  waiter.events.add(id)
  return waiter.promise
}

export const joinEvent = ({ events }: Batch, id: EventId, shard: number): Promise<EventVersion | undefined> =>
  getOrInsertComputed(events, id, () => ({ ...newWaiter<EventVersion | undefined>(), shard })).promise

/** Ends all waits of a batch that Redis does not answer in time; replies that come later change nothing. */
export function fail({ takers, shards, events }: Batch, error: Error): void {
  for (const group of takers.values()) group.resolve(undefined)
  for (const waiter of [...shards.values(), ...events.values()]) waiter.reject(error)
}

/** Passes a reply, or its error, to the waiting requests; also if the call itself throws. */
export function settle<Reply>({ resolve, reject }: Waiter<Reply>, call: () => Promise<Reply>): Promise<void> {
  return call().then(resolve, reject)
}

/** Passes a result or an error to the waiting requests, if there are any. */
export function settleWith<Reply>(waiter: Waiter<Reply> | undefined, result: Reply | Error): void {
  if (result instanceof Error) waiter?.reject(result)
  else waiter?.resolve(result)
}

const newWaiter = <Reply>(): Waiter<Reply> => Promise.withResolvers<Reply>()
const newReplies = () => new Map<object, Promise<unknown>>()
