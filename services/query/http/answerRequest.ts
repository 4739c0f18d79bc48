import type { ApiKey, Authenticator } from '@tally/access'
import { type Endpoint, type EndpointName, endpoints } from '@tally/contract'
import type { Unread } from '@tally/platform'
import type { Seen } from '@tally/views'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Handler, Readers } from '../endpoints/handler.ts'
import { handlers } from '../endpoints/index.ts'
import { createFailedAuthenticationThrottle } from '../limits/failedAuthentications.ts'
import { type Allowance, allowed, LimitExceeded } from '../limits/limitDecision.ts'
import type { RateLimiter } from '../limits/rateLimit.ts'
import type { DirectAnswers } from '../polling/directAnswers.ts'
import type { Fallback, Polling } from '../polling/polling.ts'
import type { RequestBatches } from '../redis/requestBatches.ts'
import { type Answer, createMessages, limitHeaders, sendMessage } from './answer.ts'
import { createAuthenticate, createParameters, type Parsed } from './checks.ts'
import type { OnAnswered } from './metrics.ts'
import { RequestProblem, unavailable } from './problems.ts'

/** What requests are answered from; wire.ts opens it. */
export type RequestSources = {
  authenticator: Authenticator
  limiter: RateLimiter
  batches: RequestBatches
  readers: Readers
}
type RequestDeps = RequestSources & {
  unread: Unread
  /** Called for every answer that is not a problem. */
  onAnswered: OnAnswered
  polling: Pick<Polling, 'keep'>
  direct: Pick<DirectAnswers<Fallback>, 'waited'>
}

/**
 * Returns the function that answers one request of an endpoint. The checks apply in the order of docs/api.md, Order of
 * checks (key, limit, scope, parameters, existence), but the read of a hot endpoint begins before the rate limit has
 * answered: both go to Redis in one round trip, which the requests of a batch share. Work that costs other
 * organizations something waits for the decision.
 */
export function createAnswerRequest(deps: RequestDeps) {
  const { authenticator, limiter, batches, readers, unread, onAnswered, polling, direct } = deps
  const authenticate = createAuthenticate(authenticator)
  const throttle = createFailedAuthenticationThrottle()
  const { parse, remember } = createParameters()
  const messageOf = createMessages()
  /** The read of one question, which outlives the request that asks it first. */
  const createRead =
    (read: Handler['read'], parsed: Parsed) =>
    (key: ApiKey, allowance: Allowance, seen?: Seen | null): Promise<Answer> =>
      read(readers, { key, ...parsed, allowance, seen } as never)

  return async (name: EndpointName, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const endpoint: Endpoint = endpoints[name]
    const { early, read }: Handler = handlers[name]
    const authenticated = authenticate(request.headers)
    const key = authenticated instanceof Promise ? await authenticated : authenticated
    if (key === undefined) {
      await throttle()
      throw new RequestProblem('unauthorized', { headers: { 'WWW-Authenticate': 'Bearer' } })
    }
    authenticator.used(key.keyId)
    request.apiKey = key

    const waited = direct.waited(request.raw)
    request.beganAt = waited?.beganAt ?? request.beganAt
    const deciding = Promise.resolve(waited?.decision ?? limiter.take(key.organizationId))
    const parsed = parse(endpoint, request)
    const refused = refusal(endpoint, key, parsed)
    const readFor = createRead(read, parsed)
    const begin = (allowance: Allowance) => readFor(key, allowance, waited?.isUnread ? null : undefined)
    const isEarly = early && refused === undefined && waited?.reading === undefined
    const begun = isEarly
      ? batches.coalesce({ question: parsed, key, deciding, read: begin })
      : waited?.reading
    // Awaited below, unless the limit refuses.
    begun?.catch(() => undefined)

    const decision = await deciding
    const limits = limitHeaders(decision)
    try {
      if (!decision.allowed)
        throw new RequestProblem('rate-limit-exceeded', {
          headers: { 'Retry-After': String(limits['X-RateLimit-Reset']) },
        })
      if (refused !== undefined) throw refused
      remember(request, parsed)
      // The read that this request has joined may have been refused with another one.
      const again = (error: unknown) => {
        if (error instanceof LimitExceeded) return begin(allowed)
        throw error
      }
      const answer = await (begun?.catch(again) ?? begin(allowed))
      const ignored = 'ignored' in parsed ? parsed.ignored : undefined
      // What is kept goes out again without this header.
      if (ignored === undefined)
        polling.keep(request.raw, { name, organizationId: key.organizationId, answer, read: readFor })
      const ifNoneMatch = request.headers['if-none-match']
      const message = messageOf(answer, answer.asOfMs, decision, { requestId: request.id, ifNoneMatch })
      if (ignored !== undefined) message.headers += `Tally-Ignored: ${ignored}\r\n`
      if (!unread.reserve(request.raw.socket, message.bytes, key.organizationId)) throw unavailable()
      reply.hijack()
      sendMessage(reply.raw, message)
      onAnswered(name, request, message.status)
      return reply
    } catch (error) {
      // Problems carry the headers of the limit too.
      reply.headers(limits)
      throw error
    }
  }
}

/** Why a key may not ask this, or the request is invalid; undefined if neither applies. */
function refusal({ scope }: Endpoint, { scopes }: ApiKey, parsed: Parsed): RequestProblem | undefined {
  if (!scopes.includes(scope)) return new RequestProblem('missing-scope')
  return 'errors' in parsed ? new RequestProblem('invalid-parameters', { errors: parsed.errors }) : undefined
}
