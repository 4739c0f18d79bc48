import { type ApiKey, type Authenticator, AuthenticationUnavailable } from '@tally/api-keys'
import { type Endpoint, endpoints } from '@tally/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { type Answer, send } from './answer.ts'
import type { EndpointRead } from './endpoints/endpoint.ts'
import { type ParameterError, RequestProblem, unavailable } from './http/problems.ts'
import type { RateLimiter } from './rateLimit.ts'
import type { Readers } from './readers.ts'
import type { Grant } from './redisTurns.ts'
import { openWrongTokens } from './wrongTokens.ts'

export type RequestParts = { authenticator: Authenticator; takeRequest: RateLimiter; readers: Readers }

const wrongToken = openWrongTokens()

/**
 * Answers one request of an endpoint. The checks speak in the order of decisions.md (token, rate limit, scope,
 * parameters, existence), but the read of a hot endpoint begins before the rate limit has answered: both go to
 * Redis in one round trip.
 */
export async function answerRequest(
  { authenticator, takeRequest, readers }: RequestParts,
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
  const begin = (): Promise<Answer> | undefined =>
    'errors' in parsed || !key.scopes.includes(endpoint.scope)
      ? undefined
      : read(readers, { key, ...parsed } as never)
  const begun = early ? begin() : undefined
  // Heard below, unless the limit refuses; then nobody waits for it.
  begun?.catch(() => undefined)

  setLimitHeaders(reply, await granting)
  if (!key.scopes.includes(endpoint.scope)) throw new RequestProblem('missing-scope')
  if ('errors' in parsed) throw new RequestProblem('invalid-parameters', { errors: parsed.errors })
  return send(request, reply, await (begun ?? (begin() as Promise<Answer>)))
}

/** `X-Api-Key` before `Authorization: Bearer`; an empty header counts as absent (decisions.md, Tokens). */
function authenticate(
  authenticator: Authenticator,
  { headers }: FastifyRequest,
): ApiKey | undefined | Promise<ApiKey | undefined> {
  const own = headers['x-api-key']
  const token = typeof own === 'string' && own !== '' ? own : bearerToken(headers.authorization)
  try {
    const key = authenticator.authenticate(token)
    return key instanceof Promise ? key.catch(asProblem) : key
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

function setLimitHeaders(reply: FastifyReply, { granted, limit, remaining, resetMs }: Grant): void {
  const seconds = Math.max(granted ? 0 : 1, Math.ceil(resetMs / 1000))
  reply
    .header('X-RateLimit-Limit', String(limit))
    .header('X-RateLimit-Remaining', String(remaining))
    .header('X-RateLimit-Reset', String(seconds))
  if (!granted)
    throw new RequestProblem('rate-limit-exceeded', { headers: { 'Retry-After': String(seconds) } })
}

type Parsed = { params: unknown; query: unknown } | { errors: ParameterError[] }

/** Path and query as the contract's schemas read them, or what is wrong with each parameter. */
function parse(endpoint: Endpoint, request: FastifyRequest): Parsed {
  const params = endpoint.params.safeParse(request.params)
  const query = endpoint.query.safeParse(request.query)
  if (params.success && query.success) return { params: params.data, query: query.data }
  return { errors: [...errorsOf(params.error, request.params), ...errorsOf(query.error, request.query)] }
}

function errorsOf(error: z.ZodError | undefined, given: unknown): ParameterError[] {
  const byParameter = new Map<string, string>()
  for (const { path, message } of error?.issues ?? []) {
    const parameter = String(path[0])
    const repeated = Array.isArray((given as Record<string, unknown>)[parameter])
    if (!byParameter.has(parameter)) byParameter.set(parameter, repeated ? 'must be given once' : message)
  }
  return [...byParameter].map(([parameter, message]) => ({ parameter, message }))
}
