import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApiKey, Authenticator } from '@tally/access'
import { type EndpointName, type EventId, endpoints, type OrganizationId } from '@tally/contract'
import type { EventVersion } from '@tally/read-models'
import { LRUCache } from 'lru-cache'
import { type Answer, openSend } from './http/answer.ts'
import { tokenOf } from './http/authenticate.ts'
import { hasBody } from './http/checkRequest.ts'
import type { Cors } from './http/cors.ts'
import { newRequestId } from './http/server.ts'
import type { OnAnswered } from './metrics.ts'
import type { Grant } from './permit.ts'
import type { RateLimiter } from './redis/rateLimit.ts'
import type { RequestBatches } from './redis/requestBatches.ts'
import type { Confirmed, EventViews } from './views/eventViews.ts'

/** How many characters of answers are kept; most of them are also kept by views/answers.ts, as the same text. */
const keptText = 24 * 1024 * 1024
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
  index: number
  request: IncomingMessage
  response: ServerResponse
}
/** The requests about one event in one request batch, of which `version` is a part. */
type Group = { version: Promise<EventVersion | undefined>; waiting: Waiting[] }

/** A request that has waited here and is answered by fastify after all. */
type Begun = { beganAt: number; grant: Grant | Promise<Grant> }

export type Polling = {
  /** Answers a request; false, and nothing has happened, if it is left to fastify. */
  answer(request: IncomingMessage, response: ServerResponse): boolean
  /** What has happened to a request that fastify answers; the grant is taken once. */
  begun(request: IncomingMessage): Begun | undefined
  /** Keeps what fastify answered to a request that the rate limit has granted. */
  keep(request: IncomingMessage, name: EndpointName, key: ApiKey, answer: Answer): void
}

export type PollingDeps = {
  authenticator: Pick<Authenticator, 'recall' | 'used'>
  limiter: Pick<RateLimiter, 'grant'>
  batches: Pick<RequestBatches, 'takeRequest' | 'shard' | 'event'>
  views: Pick<EventViews, 'confirm'>
  cors: Pick<Cors, 'set'> | undefined
  onAnswered: OnAnswered
  onConfirmed: () => void
}

/**
 * Answers devices that poll: a GET whose target was answered before, with a token that was right before, about an event
 * that has not changed since. Such a request needs its place in the rate limit and the versions of its event and shard,
 * all of which its request batch reads; router, hooks, parsing and composing would find what is known already, and took
 * half of its time. Nothing else is decided here: whatever is not as before goes to `toFastify`, with the grant if it
 * was taken, so the order of checks and every problem are those of answerRequest.ts.
 */
export function openPolling(
  { authenticator, limiter, batches, views, cors, onAnswered, onConfirmed }: PollingDeps,
  toFastify: (request: IncomingMessage, response: ServerResponse) => void,
): Polling {
  const polls = new LRUCache<string, Poll>({
    maxSize: keptText,
    sizeCalculation: ({ answer }, target) => answer.data.length + target.length + 300,
  })
  const groups = new Map<EventId, Group>()
  const begun = new WeakMap<IncomingMessage, Begun>()
  const send = openSend()

  const answerOne = (one: Waiting, grant: Grant | Promise<Grant>, confirmed: Confirmed | undefined) => {
    const { poll, request, response, beganAt } = one
    const isConfirmed = confirmed?.revision === poll.revision
    if (!isConfirmed || grant instanceof Promise || !grant.granted) {
      // Awaited by answerRequest.ts, perhaps later.
      if (grant instanceof Promise) grant.catch(() => undefined)
      begun.set(request, { beganAt, grant })
      return toFastify(request, response)
    }
    cors?.set(response, request.headers.origin)
    const to = { headers: request.headers, response, requestId: newRequestId() }
    const status = send(to, { ...poll.answer, asOfMs: confirmed.asOfMs }, grant)
    onConfirmed()
    onAnswered(poll.name, one, status)
  }

  /** Answers a group once its batch is answered. */
  const answerGroup = async (
    { version, waiting }: Group,
    { eventId, organizationId, shard }: Poll,
    taking: ReturnType<RequestBatches['takeRequest']>['taken'],
  ) => {
    const reads = Promise.all([batches.shard(shard, eventId), version]).catch(() => undefined)
    const [taken, read] = await Promise.all([taking, reads])
    if (groups.get(eventId)?.version === version) groups.delete(eventId)
    const confirmed = read && views.confirm({ eventId, organizationId }, ...read)
    for (const one of waiting) answerOne(one, limiter.grant(organizationId, one.index, taken), confirmed)
  }

  return {
    answer(request, response) {
      const poll = polls.get(request.url ?? '')
      if (poll === undefined || request.method !== 'GET' || hasBody(request)) return false
      const token = tokenOf(request.headers)
      const apiKey = token === undefined ? undefined : authenticator.recall(token)
      if (apiKey === undefined || !mayAsk(apiKey, poll)) return false
      authenticator.used(apiKey.keyId)
      const { eventId, organizationId, shard } = poll
      const { index, taken } = batches.takeRequest(organizationId)
      const version = batches.event(eventId, shard)
      const one = { poll, apiKey, beganAt: performance.now(), index, request, response }
      const group = groups.get(eventId)
      if (group?.version === version) group.waiting.push(one)
      else {
        const begins = { version, waiting: [one] }
        groups.set(eventId, begins)
        void answerGroup(begins, poll, taken)
      }
      return true
    },
    begun(request) {
      const found = begun.get(request)
      begun.delete(request)
      return found
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
