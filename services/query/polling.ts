import type { IncomingMessage } from 'node:http'
import type { ApiKey, Authenticator } from '@tally/access'
import { type EndpointName, type EventId, endpoints, type OrganizationId } from '@tally/contract'
import { LRUCache } from 'lru-cache'
import { type Answer, openMessages } from './http/answer.ts'
import { tokenOf } from './http/authenticate.ts'
import type { Cors } from './http/cors.ts'
import type { Asking } from './http/directAnswers.ts'
import type { PlainRequest } from './http/plainRequest.ts'
import { newRequestId } from './http/server.ts'
import type { OnAnswered } from './metrics.ts'
import type { Grant } from './permit.ts'
import type { RateLimiter } from './redis/rateLimit.ts'
import type { RequestBatches } from './redis/requestBatches.ts'
import type { Confirmed, EventViews } from './views/eventViews.ts'

/**
 * How many characters of answers are kept, enough for four questions about 5,000 events. Many of them are also kept by
 * views/answers.ts, as the same text.
 */
const keptText = 64 * 1024 * 1024
const longestTarget = 300

/** The last answer to a request target: only the event's organization ever gets one. */
type Poll = {
  name: EndpointName
  eventId: EventId
  organizationId: OrganizationId
  revision: number
  shard: number
  answer: Answer
}
type Waiting = {
  poll: Poll
  apiKey: ApiKey
  beganAt: number
  headers: PlainRequest['headers']
  asking: Asking<Begun>
}
/** A request that has waited here and is answered by fastify after all. */
export type Begun = { beganAt: number; grant: Grant | Promise<Grant> }

export type Polling = {
  /** Answers a request; false, and nothing has happened, if it is left to fastify. */
  answer(request: PlainRequest, asking: Asking<Begun>): boolean
  /** Keeps what fastify answered to a request that the rate limit has granted. */
  keep(request: IncomingMessage, name: EndpointName, key: ApiKey, answer: Answer): void
}

export type PollingDeps = {
  authenticator: Pick<Authenticator, 'recall' | 'used'>
  limiter: Pick<RateLimiter, 'grant'>
  batches: Pick<RequestBatches, 'poll'>
  views: Pick<EventViews, 'confirm'>
  cors: Pick<Cors, 'headers'> | undefined
  onAnswered: OnAnswered
  onConfirmed: () => void
}

/**
 * Answers devices that poll: a GET whose target was answered before, with a token that was right before, about an event
 * that has not changed since. Such a request needs its place in the rate limit and the versions of its event and shard,
 * all of which its request batch reads; router, hooks, parsing and composing would find what is known already, and took
 * half of its time. Nothing else is decided here: whatever is not as before goes to fastify, with the grant if it was
 * taken, so the order of checks and every problem are those of answerRequest.ts.
 */
export function openPolling({
  authenticator,
  limiter,
  batches,
  views,
  cors,
  onAnswered,
  onConfirmed,
}: PollingDeps): Polling {
  const polls = new LRUCache<string, Poll>({
    maxSize: keptText,
    sizeCalculation: ({ answer }, target) => answer.data.length + target.length + 300,
  })
  const messageOf = openMessages()

  const answerOne = (one: Waiting, grant: Grant | Promise<Grant>, confirmed: Confirmed | undefined) => {
    const { poll, headers, asking, beganAt } = one
    const isConfirmed = confirmed?.revision === poll.revision
    if (!isConfirmed || grant instanceof Promise || !grant.granted) {
      // Awaited by answerRequest.ts, perhaps later.
      if (grant instanceof Promise) grant.catch(() => undefined)
      return asking.leave({ beganAt, grant })
    }
    const answer = { ...poll.answer, asOfMs: confirmed.asOfMs }
    const message = messageOf(answer, grant, newRequestId(), headers['if-none-match'])
    if (cors !== undefined) message.headers.push(...cors.headers(headers.origin))
    asking.answer(message.status, message.headers, message.body)
    onConfirmed()
    onAnswered(poll.name, one, message.status)
  }

  return {
    answer({ url, headers }, asking) {
      const poll = polls.get(url)
      if (poll === undefined) return false
      const token = tokenOf(headers)
      const apiKey = token === undefined ? undefined : authenticator.recall(token)
      if (apiKey === undefined || !mayAsk(apiKey, poll)) return false
      authenticator.used(apiKey.keyId)
      const beganAt = performance.now()
      batches.poll(poll, (index, taken, shard, version) => {
        const confirmed = shard && views.confirm(poll, shard, version)
        const grant = limiter.grant(poll.organizationId, index, taken)
        answerOne({ poll, apiKey, beganAt, headers, asking }, grant, confirmed)
      })
      return true
    },
    keep({ url = '', method }, name, { organizationId }, answer) {
      if (answer.holdsFor === undefined || url.length > longestTarget || method !== 'GET') return
      const eventId = answer.eventId as EventId
      polls.set(url, { name, eventId, organizationId, ...answer.holdsFor, answer })
    },
  }
}

const mayAsk = ({ organizationId, eventId, scopes }: ApiKey, poll: Poll): boolean =>
  organizationId === poll.organizationId &&
  (eventId === null || eventId === poll.eventId) &&
  scopes.includes(endpoints[poll.name].scope)
