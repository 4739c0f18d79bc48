import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ApiKey, Authenticator, KnownKey } from '@tally/access'
import { type EndpointName, type EventId, endpoints, type OrganizationId, type Scope } from '@tally/contract'
import { leastReserved, type Unread } from '@tally/platform'
import type { ShardHash } from '@tally/publication'
import type { Seen } from '@tally/views'
import { LRUCache } from 'lru-cache'
import { type Answer, createMessages, linesOf, ownText } from '../http/answer.ts'
import { longestRemembered } from '../http/checks.ts'
import type { Cors } from '../http/cors.ts'
import type { OnAnswered } from '../http/metrics.ts'
import { type Allowance, allowed, type LimitDecision } from '../limits/limitDecision.ts'
import type { RateLimiter } from '../limits/rateLimit.ts'
import type { PollOf } from '../redis/batch.ts'
import type { RequestBatches } from '../redis/requestBatches.ts'
import type { EventViews } from '../views/eventViews.ts'
import type { Remembered } from '../views/memory.ts'
import type { Exchange } from './directAnswers.ts'
import { type ReadRequest, tokenOf } from './plainRequest.ts'

/**
 * How many characters of answers are kept, enough for four questions about 5,000 events. Many of them are also kept by
 * views/question.ts, as the same text.
 */
const keptText = 64 * 1024 * 1024

/** The last answer to a request target, and how to read it again. Only the event's organization ever gets one. */
type Kept = {
  name: EndpointName
  organizationId: OrganizationId
  answer: Answer
  read(key: ApiKey, allowance: Allowance, seen: Seen): Promise<Answer>
}
type Poll = Kept & {
  target: string
  eventId: EventId
  revision: number
  shard: number
  scope: Scope
  /** What its request batches ask for. */
  asks: PollOf
  /** What the process remembers of the event; see `confirm`. */
  known?: Remembered | undefined
  /** Who asked last, and may: mostly it is the same device. */
  asker?: { token: string; known: KnownKey } | undefined
  /** The read that the polls of one batch share; a batch has one hash of the shard. */
  reading?: { hash: ShardHash; answer: Promise<Answer> }
}
type Waiting = {
  poll: Poll
  apiKey: ApiKey
  beganAt: number
  headers: ReadRequest['headers']
  exchange: Exchange<Fallback>
}
/**
 * A request that has waited here and is answered by fastify after all. `isUnread`: Redis failed or was too slow for it,
 * so it is not asked again. `reading` is the read that has failed.
 */
export type Fallback = {
  beganAt: number
  decision: LimitDecision | Promise<LimitDecision>
  isUnread: boolean
  reading?: Promise<Answer>
}

export type Polling = {
  /** Answers a request; false, and nothing has happened, if it is left to fastify. */
  answer(request: ReadRequest, exchange: Exchange<Fallback>): boolean
  /** Keeps what fastify answered to a request that the rate limit has allowed. */
  keep(request: IncomingMessage, kept: Kept): void
}

export type PollingDeps = {
  authenticator: Pick<Authenticator, 'recall' | 'used' | 'isInUse'>
  limiter: Pick<RateLimiter, 'decision'>
  batches: Pick<RequestBatches, 'poll' | 'pollOf'>
  views: Pick<EventViews, 'confirm'>
  cors: Pick<Cors, 'headers'> | undefined
  unread: Unread
  onAnswered: OnAnswered
  /** Called with the source of an answer that goes out again. */
  onSource: (source: 'memory') => void
}

/**
 * Answers devices that poll: a GET whose target was answered before, with a token that was right before. Such a request
 * needs its place in the rate limit and the versions of its event and shard, all of which its request batch reads. If
 * the event has not changed, the answer goes out again: router, hooks, parsing and composing would find what is known
 * already, and took half of its time. If it has changed, the question is read again, once for all who ask it in this
 * batch. Nothing else is decided here: whatever is not as before, and every problem, goes to fastify, with the decision
 * if it was taken, so the order of checks is that of answerRequest.ts.
 */
export function createPolling(deps: PollingDeps): Polling {
  const { authenticator, limiter, batches, views, cors, unread, onAnswered, onSource } = deps
  const polls = new LRUCache<string, Poll>({
    maxSize: keptText,
    sizeCalculation: ({ answer }, target) => answer.text.length + target.length + 500,
  })
  const messageOf = createMessages()

  const put = (target: string, { name, organizationId, answer, read }: Kept): void => {
    if (answer.holdsFor === undefined) return
    const eventId = answer.eventId as EventId
    const { revision, shard } = answer.holdsFor
    const asks = batches.pollOf({ organizationId, eventId, shard })
    const { scope } = endpoints[name]
    polls.set(target, { name, organizationId, answer, read, target, eventId, revision, shard, scope, asks })
  }

  const send = (one: Waiting, answer: Answer, asOfMs: Answer['asOfMs'], decision: LimitDecision) => {
    const { poll, headers, exchange, beganAt } = one
    let message: ReturnType<typeof messageOf> | undefined
    try {
      const sent = { requestId: randomUUID(), ifNoneMatch: headers['if-none-match'] }
      message = messageOf(answer, asOfMs, decision, sent)
      const isLarge = message.bytes >= leastReserved
      if (isLarge && !unread.reserve(exchange.socket, message.bytes, poll.organizationId)) message = undefined
    } catch {}
    // For fastify it fails in the same way, and it tells this client; the other polls of the batch are answered.
    if (message === undefined) return exchange.leave({ beganAt, decision, isUnread: false })
    const ofOrigin = cors === undefined ? '' : linesOf(cors.headers(headers.origin))
    exchange.answer(message.status, message.headers + ofOrigin, message.body)
    onAnswered(poll.name, one, message.status)
  }

  /** `seen` is null if Redis did not answer. */
  const answerOne = (
    one: Waiting,
    decision: LimitDecision | Promise<LimitDecision>,
    seen: Seen | undefined | null,
  ) => {
    const { poll, exchange, beganAt } = one
    const confirmed = seen && views.confirm(poll, seen)
    const isAllowed = !(decision instanceof Promise) && decision.allowed
    if (isAllowed && confirmed?.revision === poll.revision) {
      send(one, poll.answer, confirmed.asOfMs, decision)
      return onSource('memory')
    }
    const fallback = { beganAt, decision, isUnread: seen === null }
    // Awaited by answerRequest.ts, perhaps later.
    if (decision instanceof Promise) decision.catch(() => undefined)
    if (!isAllowed || !seen) return exchange.leave(fallback)
    const reading = readAgain(one, seen, put)
    reading.then(
      answer => send(one, answer, answer.asOfMs, decision),
      () => exchange.leave({ ...fallback, reading }),
    )
  }

  return {
    answer({ url, headers }, exchange) {
      const poll = polls.get(url)
      if (poll === undefined) return false
      const token = tokenOf(headers)
      const apiKey = token === undefined ? undefined : keyOf(authenticator, poll, token)
      if (apiKey === undefined) return false
      const beganAt = performance.now()
      batches.poll(poll.asks, ({ index, taken, hash, version }) => {
        const seen = hash === undefined ? null : version && { shard: poll.shard, hash, version }
        const decision = limiter.decision(poll.organizationId, index, taken)
        answerOne({ poll, apiKey, beganAt, headers, exchange }, decision, seen)
      })
      return true
    },
    keep({ url = '', method }, kept) {
      if (url.length <= longestRemembered && method === 'GET') put(url, kept)
    },
  }
}

/** The key of a token that was right before, if it still is and may ask this; its use is then recorded. */
function keyOf(authenticator: PollingDeps['authenticator'], poll: Poll, token: string): ApiKey | undefined {
  const { asker } = poll
  const isSame = asker !== undefined && isEqual(asker.token, token)
  if (isSame && authenticator.isInUse(asker.known)) return asker.known.stored.key
  const known = authenticator.recall(token)
  if (known === undefined || !mayAsk(known.stored.key, poll)) return undefined
  authenticator.used(known.stored.key.keyId, known)
  if (known !== asker?.known) poll.asker = { token: ownText(token), known }
  return known.stored.key
}

/** Reads the question of a poll, once for all who ask it at this version, and keeps the answer. */
function readAgain(
  { poll, apiKey }: Waiting,
  seen: Seen,
  put: (target: string, kept: Kept) => void,
): Promise<Answer> {
  if (poll.reading?.hash === seen.hash) return poll.reading.answer
  const answer = poll.read(apiKey, allowed, seen)
  poll.reading = { hash: seen.hash, answer }
  answer.then(
    answer => put(poll.target, { ...poll, answer }),
    // Everyone who waits for it learns of the failure.
    () => undefined,
  )
  return answer
}

/** Compares tokens in constant time: 0.2 of the 43 µs of a poll. */
function isEqual(known: string, token: string): boolean {
  if (known.length !== token.length) return false
  let difference = 0
  for (let index = 0; index < known.length; index += 1)
    difference |= known.charCodeAt(index) ^ token.charCodeAt(index)
  return difference === 0
}

const mayAsk = ({ organizationId, eventId, scopes }: ApiKey, poll: Poll): boolean =>
  organizationId === poll.organizationId &&
  (eventId === null || eventId === poll.eventId) &&
  scopes.includes(poll.scope)
