import type { ApiKey, Authenticator } from '@tally/access'
import { type Endpoint, type EndpointName, endpoints } from '@tally/contract'
import type { Unread } from '@tally/platform'
import type { Seen } from '@tally/views'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Handler, Readers } from '../endpoints/handler.ts'
import { handlers } from '../endpoints/index.ts'
import { createFailedAuthenticationThrottle } from '../limits/failedAuthentications.ts'
import { type Allowance, allowed, type LimitDecision, LimitExceeded } from '../limits/limitDecision.ts'
import type { RateLimiter } from '../limits/rateLimit.ts'
import type { DirectAnswers } from '../polling/directAnswers.ts'
import type { Fallback, Polling } from '../polling/polling.ts'
import type { RequestBatches } from '../redis/requestBatches.ts'
import { type Answer, createMessages, limitHeaders, sendMessage } from './answer.ts'
import { authenticate, createParameters, type Parsed } from './checks.ts'
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
  const throttle = createFailedAuthenticationThrottle()
  const { parse, remember } = createParameters()
  const messageOf = createMessages()

  const keyOf = async (request: FastifyRequest): Promise<ApiKey> => {
    const key = await authenticate(authenticator, request.headers)
    if (key === undefined) {
      await throttle()
      throw new RequestProblem('unauthorized', { headers: { 'WWW-Authenticate': 'Bearer' } })
    }
    authenticator.used(key.keyId)
    request.apiKey = key
    return key
  }

  /**
   * Counts the request against the limit. An early read begins at once; a request that was left over from a poll
   * continues that poll's read.
   */
  const begin = ({ request, key, parsed, read }: ParsedRequest, isEarly: boolean) => {
    const waited = direct.waited(request.raw)
    request.beganAt = waited?.beganAt ?? request.beganAt
    const deciding = Promise.resolve(waited?.decision ?? limiter.take(key.organizationId))
    const readNow = (allowance: Allowance) => read(key, allowance, waited?.isUnread ? null : undefined)
    const shared = { question: parsed, key, deciding, read: readNow }
    const begun = waited?.reading ?? (isEarly ? batches.coalesce(shared) : undefined)
    // Awaited below, unless the limit refuses.
    begun?.catch(() => undefined)
    // The read that this request has joined stops if the limit refuses the request that began it.
    const again = (error: unknown) => {
      if (error instanceof LimitExceeded) return readNow(allowed)
      throw error
    }
    return { deciding, readAnswer: () => begun?.catch(again) ?? readNow(allowed) }
  }

  const send = (
    { name, request, key, parsed, read }: ParsedRequest,
    reply: FastifyReply,
    answer: Answer,
    decision: LimitDecision,
  ) => {
    const { organizationId } = key
    const ignored = 'ignored' in parsed ? parsed.ignored : undefined
    // What is kept goes out again without this header.
    if (ignored === undefined) polling.keep(request.raw, { name, organizationId, answer, read })
    const ifNoneMatch = request.headers['if-none-match']
    const message = messageOf(answer, answer.asOfMs, decision, { requestId: request.id, ifNoneMatch })
    if (ignored !== undefined) message.headers += `Tally-Ignored: ${ignored}\r\n`
    if (!unread.reserve(request.raw.socket, message.bytes, organizationId)) throw unavailable()
    reply.hijack()
    sendMessage(reply.raw, message)
    onAnswered(name, request, message.status)
  }

  return async (name: EndpointName, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const endpoint: Endpoint = endpoints[name]
    const handler: Handler = handlers[name]
    const key = await keyOf(request)
    const parsed = parse(endpoint, request)
    const parsedRequest = { name, request, key, parsed, read: createRead(readers, handler, parsed) }
    const refused = refusal(endpoint, key, parsed)
    const { deciding, readAnswer } = begin(parsedRequest, handler.early && refused === undefined)
    const decision = await deciding
    try {
      if (!decision.allowed) throw limitExceeded(decision)
      if (refused !== undefined) throw refused
      remember(request, parsed)
      send(parsedRequest, reply, await readAnswer(), decision)
      return reply
    } catch (error) {
      // Problems carry the headers of the limit too.
      reply.headers(limitHeaders(decision))
      throw error
    }
  }
}

/** The read of one question, which outlives the request that asks it first. */
const createRead =
  (readers: Readers, { read }: Handler, parsed: Parsed): ParsedRequest['read'] =>
  (key, allowance, seen) =>
    read(readers, { key, ...parsed, allowance, seen } as never)

/** An authenticated request with its parameters and its read. */
type ParsedRequest = {
  name: EndpointName
  request: FastifyRequest
  key: ApiKey
  parsed: Parsed
  read(key: ApiKey, allowance: Allowance, seen?: Seen | null): Promise<Answer>
}

const limitExceeded = (decision: LimitDecision): RequestProblem =>
  new RequestProblem('rate-limit-exceeded', {
    headers: { 'Retry-After': String(limitHeaders(decision)['X-RateLimit-Reset']) },
  })

/** Why a key may not ask this, or the request is invalid; undefined if neither applies. */
function refusal({ scope }: Endpoint, { scopes }: ApiKey, parsed: Parsed): RequestProblem | undefined {
  if (!scopes.includes(scope)) return new RequestProblem('missing-scope')
  return 'errors' in parsed ? new RequestProblem('invalid-parameters', { errors: parsed.errors }) : undefined
}
