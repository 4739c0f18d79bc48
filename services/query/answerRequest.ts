import { type ApiKey, AuthenticationUnavailable, type Authenticator } from '@tally/access'
import { type Endpoint, type EndpointName, endpoints } from '@tally/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { EndpointRead } from './endpoints/endpoint.ts'
import { type LimitHeaders, send } from './http/answer.ts'
import { openWrongTokens } from './http/failedAuthentications.ts'
import { briefMap } from './http/microCache.ts'
import { type Parsed, parse, rememberParsed } from './http/parameters.ts'
import { RequestProblem, unavailable } from './http/problems.ts'
import type { Grant } from './permit.ts'
import { granted, type Permit } from './permit.ts'
import type { Readers } from './readers.ts'
import type { RateLimiter } from './redis/rateLimit.ts'
import type { RedisTurns } from './redis/requestBatch.ts'

export type RequestParts = {
  authenticator: Authenticator
  takeRequest: RateLimiter
  turns: RedisTurns
  readers: Readers
  /** Hears of every answer that is no problem. */
  answered: (endpoint: EndpointName, request: FastifyRequest, status: number) => void
}

const wrongToken = openWrongTokens()

/**
 * Answers one request of an endpoint. The checks speak in the order of decisions.md (token, rate limit, scope,
 * parameters, existence), but the read of a hot endpoint begins before the rate limit has answered: both go to Redis in
 * one round trip, which the requests that come together share. Work that costs other organizations something waits for
 * the grant.
 */
export async function answerRequest(
  { authenticator, takeRequest, turns, readers, answered }: RequestParts,
  { name, early, read }: EndpointRead,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const endpoint: Endpoint = endpoints[name]
  const authenticated = authenticate(authenticator, request)
  const key = authenticated instanceof Promise ? await authenticated : authenticated
  if (key === undefined) {
    await wrongToken()
    throw new RequestProblem('unauthorized', { headers: { 'WWW-Authenticate': 'Bearer' } })
  }
  authenticator.used(key.keyId)
  request.apiKey = key

  const granting = takeRequest(key.organizationId)
  const parsed = parse(endpoint, request)
  const refused = refusal(endpoint, key, parsed)
  const begin = (permit: Permit) => read(readers, { key, ...parsed, permit } as never)
  const begun = early && refused === undefined ? turns.readOnce(parsed, key, granting, begin) : undefined
  // Awaited below, unless the limit refuses.
  begun?.catch(() => undefined)

  const grant = await granting
  const limits = limitHeaders(grant)
  try {
    if (!grant.granted)
      throw new RequestProblem('rate-limit-exceeded', {
        headers: { 'Retry-After': String(limits['X-RateLimit-Reset']) },
      })
    if (refused !== undefined) throw refused
    rememberParsed(request, parsed)
    answered(name, request, send(request, reply, await (begun ?? begin(granted)), limits))
    return reply
  } catch (error) {
    // A problem says them too.
    reply.headers(limits)
    throw error
  }
}

/**
 * Tokens that were found good in the last 2 ms or so, with their keys, so that a repeated one is not hashed again. Wrong
 * tokens are not in it, and it is dropped as a whole.
 */
const seenTokens = briefMap<string, ApiKey>()

/** `X-Api-Key` before `Authorization: Bearer`; an empty header counts as absent (decisions.md, Tokens). */
function authenticate(
  authenticator: Authenticator,
  { headers }: FastifyRequest,
): ApiKey | undefined | Promise<ApiKey | undefined> {
  const own = headers['x-api-key']
  const token = typeof own === 'string' && own !== '' ? own : bearerToken(headers.authorization)
  if (token === undefined) return undefined
  const seen = seenTokens()
  const known = seen.get(token)
  if (known !== undefined) return known
  try {
    const key = authenticator.authenticate(token)
    if (key instanceof Promise) return key.catch(asProblem)
    if (key !== undefined) seen.set(token, key)
    return key
  } catch (error) {
    return asProblem(error)
  }
}

function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1]
}

function asProblem(error: unknown): never {
  throw error instanceof AuthenticationUnavailable ? unavailable() : error
}

/** What a key may not ask, or what cannot be asked; undefined where there is nothing to say against it. */
function refusal({ scope }: Endpoint, { scopes }: ApiKey, parsed: Parsed): RequestProblem | undefined {
  if (!scopes.includes(scope)) return new RequestProblem('missing-scope')
  return 'errors' in parsed ? new RequestProblem('invalid-parameters', { errors: parsed.errors }) : undefined
}

function limitHeaders({ granted, limit, remaining, resetMs }: Grant): LimitHeaders {
  return {
    'X-RateLimit-Limit': limit,
    'X-RateLimit-Remaining': remaining,
    'X-RateLimit-Reset': Math.max(granted ? 0 : 1, Math.ceil(resetMs / 1000)),
  }
}
