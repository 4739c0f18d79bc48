import type { Taken } from '@tally/access'
import type { EventId, OrganizationId } from '@tally/contract'
import { getOrInsertComputed } from '@tally/figures'
import type { EventVersion, ShardHash } from '@tally/publication'
import { type Allowance, allowanceOf, type LimitDecision } from '../limits/limitDecision.ts'

/**
 * Waits for one reply. It is settled once; what comes later changes nothing. A poll reads `reply` when its batch is
 * over, so the promise is made only for those that ask for it.
 */
export class Waiter<Reply> {
  /** Undefined until the reply is there, and if it is an error. */
  reply: Reply | undefined
  #state: 'waits' | 'resolved' | 'rejected' = 'waits'
  #error: unknown
  #resolvers: PromiseWithResolvers<Reply> | undefined

  get promise(): Promise<Reply> {
    if (this.#resolvers === undefined) {
      this.#resolvers = Promise.withResolvers<Reply>()
      this.#notify()
    }
    return this.#resolvers.promise
  }

  resolve(reply: Reply): void {
    if (this.#state !== 'waits') return
    this.#state = 'resolved'
    this.reply = reply
    this.#notify()
  }

  reject(error: unknown): void {
    if (this.#state !== 'waits') return
    this.#state = 'rejected'
    this.#error = error
    this.#notify()
  }

  #notify(): void {
    if (this.#state === 'resolved') this.#resolvers?.resolve(this.reply as Reply)
    if (this.#state === 'rejected') this.#resolvers?.reject(this.#error)
  }
}

/** What the requests of one batch ask Redis for, each thing once. */
export type Batch = {
  /** No other batch has it. */
  number: number
  /** Whether it goes to a cluster: no script touches two slots there, and replies come from several nodes. */
  isCluster: boolean
  takers: Taker[]
  shards: ShardWaiter[]
  /** By question, then by key. */
  replies: Map<object, Map<object, Promise<unknown>>>
  /** Begun when the batch goes out. */
  reads: (() => void)[]
  /** Notified when the batch is answered or times out. */
  polls: WaitingPoll[]
  /** How many requests have joined, to be taken from the windows of all organizations. */
  joined: number
  /** Ends its own wait for an earlier batch; once it has gone out to a cluster, the next batch's wait for it. */
  hold: NodeJS.Timeout | undefined
}

/**
 * What batches ask for: an organization's window, a shard's hash or an event's. One object stands for each of them and
 * knows where its part of the last batch is that it joined, so that a request joins without a look-up by its ids. It
 * holds numbers only: an old object that refers to the latest batch has the collector copy all of that batch, which
 * took a tenth of the time of a poll. Two objects for the same thing do no harm: it is then asked for twice.
 */
class Batched {
  batch = 0
  index = 0
}

/** The part of what is asked for in a batch; `join` adds it if it has none there. */
function partOf<Part>(batch: Batch, parts: Part[], asked: Batched, join: () => Part): Part {
  const part = asked.batch === batch.number ? parts[asked.index] : undefined
  if (part !== undefined) return part
  asked.batch = batch.number
  asked.index = parts.length
  const joined = join()
  parts.push(joined)
  return joined
}

/** An organization with the keys of its window and of its hash. */
export class BatchedOrganization extends Batched {
  readonly id: OrganizationId
  readonly keys: { window: string; organization: string }
  constructor(id: OrganizationId, keys: BatchedOrganization['keys']) {
    super()
    this.id = id
    this.keys = keys
  }
}

export class BatchedShard extends Batched {
  readonly number: number
  readonly key: string
  constructor(number: number, key: string) {
    super()
    this.number = number
    this.key = key
  }
}

/** An event, asked for through its shard; `field` is that of its revision in the shard's hash. */
export class BatchedEvent extends Batched {
  readonly id: EventId
  readonly shard: BatchedShard
  readonly key: string
  readonly field: string
  constructor(id: EventId, shard: BatchedShard, { key, field }: { key: string; field: string }) {
    super()
    this.id = id
    this.shard = shard
    this.key = key
    this.field = field
  }
}

/** The requests of an organization, which are taken together. */
export class Taker extends Waiter<Taken | undefined> {
  count = 0
  readonly organization: BatchedOrganization
  constructor(organization: BatchedOrganization) {
    super()
    this.organization = organization
  }
}
class ShardWaiter extends Waiter<ShardHash> {
  readonly events: EventWaiter[] = []
  readonly shard: BatchedShard
  constructor(shard: BatchedShard) {
    super()
    this.shard = shard
  }
}
class EventWaiter extends Waiter<EventVersion | undefined> {
  readonly event: BatchedEvent
  readonly shard: ShardWaiter
  constructor(event: BatchedEvent, shard: ShardWaiter) {
    super()
    this.event = event
    this.shard = shard
  }
}

/** What a poll is about: its place in the rate limit, and whether its answer still holds. */
export type PollOf = { organization: BatchedOrganization; event: BatchedEvent }
/** What a batch read for the poll at `index` of its organization's requests; undefined if Redis did not answer. */
type Polled = {
  index: number
  taken: Taken | undefined
  hash: ShardHash | undefined
  version: EventVersion | undefined
}
export type OnPolled = (polled: Polled) => void
type WaitingPoll = { index: number; taker: Taker; event: EventWaiter; onPolled: OnPolled }

export const newBatch = (number: number, isCluster = false): Batch => ({
  number,
  isCluster,
  takers: [],
  shards: [],
  replies: new Map(),
  reads: [],
  polls: [],
  joined: 0,
  hold: undefined,
})

export function joinTakers(
  batch: Batch,
  organization: BatchedOrganization,
): { index: number; taken: Promise<Taken | undefined> } {
  const taker = takerOf(batch, organization)
  return { index: taker.count++, taken: taker.promise }
}

/**
 * Joins a poll to the batch; `onPolled` is called when the whole batch is answered, or in a cluster as soon as the
 * poll's own replies have arrived, so that a slow node does not delay the polls of others.
 */
export function joinPoll(batch: Batch, { organization, event }: PollOf, onPolled: OnPolled): void {
  const taker = takerOf(batch, organization)
  const poll = { index: taker.count++, taker, event: eventOf(batch, event), onPolled }
  if (!batch.isCluster) return void batch.polls.push(poll)
  const replies = [taker.promise, poll.event.shard.promise, poll.event.promise]
  void Promise.allSettled(replies).then(() => notify(poll))
}

/** Notifies the polls of a batch of what is known by now; late replies are dropped. */
export function notifyPolls(batch: Batch): void {
  const { polls } = batch
  batch.polls = []
  for (const poll of polls) notify(poll)
}
const notify = ({ onPolled, index, taker, event }: WaitingPoll) =>
  onPolled({ index, taken: taker.reply, hash: event.shard.reply, version: event.reply })

/** A read of a question for a key, both compared by identity, that begins while its rate limit is `deciding`. */
export type CoalescedRead<Reply> = {
  question: object
  key: object
  deciding: Promise<LimitDecision>
  read(allowance: Allowance): Promise<Reply>
}

/** Joins the batch's read of the same question and key, or adds one. */
export function joinRead<Reply>(
  { replies, reads }: Batch,
  { question, key, deciding, read }: CoalescedRead<Reply>,
): Promise<Reply> {
  const reply = getOrInsertComputed(getOrInsertComputed(replies, question, newReplies), key, () => {
    const waiter = new Waiter<Reply>()
    const allowance = allowanceOf(deciding)
    reads.push(() => settle(waiter, async () => read(allowance)))
    return waiter.promise
  })
  return reply as Promise<Reply>
}

export const joinShard = (batch: Batch, event: BatchedEvent): Promise<ShardHash> =>
  eventOf(batch, event).shard.promise

export const joinEvent = (batch: Batch, event: BatchedEvent): Promise<EventVersion | undefined> =>
  eventOf(batch, event).promise

/** Ends all waits of a batch that Redis does not answer in time; replies that come later change nothing. */
export function fail(batch: Batch, error: Error): void {
  for (const taker of batch.takers) taker.resolve(undefined)
  rejectReads(batch, error)
  notifyPolls(batch)
}

export function rejectReads({ shards }: Batch, error: unknown): void {
  for (const shard of shards) {
    shard.reject(error)
    for (const event of shard.events) event.reject(error)
  }
}

/** Passes a reply, or its error, to the waiting requests; also if the call itself throws. */
export function settle<Reply>(waiter: Waiter<Reply>, call: () => Promise<Reply>): Promise<void> {
  return call().then(
    reply => waiter.resolve(reply),
    error => waiter.reject(error),
  )
}

/** Passes a result or an error to the waiting requests. */
export function settleWith<Reply>(waiter: Waiter<Reply>, result: Reply | Error): void {
  if (result instanceof Error) waiter.reject(result)
  else waiter.resolve(result)
}

function takerOf(batch: Batch, organization: BatchedOrganization): Taker {
  batch.joined += 1
  return partOf(batch, batch.takers, organization, () => new Taker(organization))
}
function eventOf(batch: Batch, event: BatchedEvent): EventWaiter {
  const shard = partOf(batch, batch.shards, event.shard, () => new ShardWaiter(event.shard))
  return partOf(batch, shard.events, event, () => new EventWaiter(event, shard))
}
const newReplies = () => new Map<object, Promise<unknown>>()
