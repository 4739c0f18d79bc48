import type { IncomingHttpHeaders } from 'node:http'
import { type ApiKey, AuthenticationUnavailable, type Authenticator } from '@tally/access'
import { type Endpoint, issueSentence } from '@tally/contract'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import { tokenOf } from '../polling/plainRequest.ts'
import { findBrokenEncoding, parseQuery, splitTarget } from './encoding.ts'
import { type ParameterError, RequestProblem, unavailable } from './problems.ts'

/**
 * Finds a request's key; undefined without a valid token. Rejects with `service-unavailable` if nothing can tell
 * whether the token is valid.
 */
export async function authenticate(
  authenticator: Authenticator,
  headers: IncomingHttpHeaders,
): Promise<ApiKey | undefined> {
  const token = tokenOf(headers)
  if (token === undefined) return undefined
  try {
    return await authenticator.authenticate(token)
  } catch (error) {
    throw error instanceof AuthenticationUnavailable ? unavailable() : error
  }
}

export type Parsed =
  /** `ignored` is the value of `Tally-Ignored`, if the request has parameters that the endpoint does not know. */
  { params: unknown; query: unknown; ignored?: string } | { errors: ParameterError[] }

const rememberedTargets = 5_000
/** Characters of a request target that is remembered. */
export const longestRemembered = 300

/** A token of HTTP (RFC 9110, 5.6.2), so that a list of names stays one, and shorter than a key's secret. */
const ignoredName = /^[\w!#$%&'*+.^`|~-]{1,40}$/
const ignoredNames = 10

/** Parses parameters, and remembers valid ones by request target, which decides them: devices repeat a few targets. */
export function createParameters() {
  const remembered = new LRUCache<string, Parsed>({ max: rememberedTargets })
  return {
    /**
     * Path and query as the contract's schemas parse them, or an error for each invalid parameter. Returns the same
     * object for the same target, as long as it is remembered.
     */
    parse: (endpoint: Endpoint, request: FastifyRequest): Parsed =>
      remembered.get(targetOf(request)) ?? parseWith(endpoint, request),
    /** Remembers the parameters of a request that the rate limit has allowed: refused requests evict nothing. */
    remember(request: FastifyRequest, parsed: Parsed): void {
      const target = targetOf(request)
      if (target.length <= longestRemembered && !remembered.has(target)) remembered.set(target, parsed)
    },
  }
}

const inWords = { error: issueSentence }

function parseWith({ params, query }: Endpoint, request: FastifyRequest): Parsed {
  // The query is text: server.ts disables fastify's parser.
  const given = { params: request.params, query: parseQuery(request.query as string) }
  const [ofPath, ofQuery] = [params.safeParse(given.params, inWords), query.safeParse(given.query, inWords)]
  if (!ofPath.success || !ofQuery.success)
    return { errors: [...errorsOf(ofPath.error, given.params), ...errorsOf(ofQuery.error, given.query)] }
  const parsed = { params: ofPath.data, query: ofQuery.data }
  const ignored = Object.keys(given.query)
    .filter(name => !Object.hasOwn(query.shape, name))
    .map(name => encodeURIComponent(name.toWellFormed()))
    .filter(name => ignoredName.test(name))
    .slice(0, ignoredNames)
    .join(', ')
  return ignored === '' ? parsed : { ...parsed, ignored }
}

const targetOf = ({ raw }: FastifyRequest): string => raw.url ?? '/'

function errorsOf(error: z.ZodError | undefined, given: unknown): ParameterError[] {
  const byParameter = new Map<string, string>()
  for (const { path, message } of error?.issues ?? []) {
    const parameter = String(path[0])
    const repeated = Array.isArray((given as Record<string, unknown>)[parameter])
    if (!byParameter.has(parameter)) byParameter.set(parameter, repeated ? 'must be given once' : message)
  }
  return [...byParameter].map(([parameter, message]) => ({ parameter, message }))
}

/**
 * Checks a request before the router's result is used and before fastify reads a body (one that it cannot parse would
 * be its own error, not a 405); undefined if nothing is wrong.
 */
export function checkRequest(
  { raw, method }: FastifyRequest,
  isKnownPath: (path: string) => boolean,
): RequestProblem | undefined {
  const target = raw.url ?? '/'
  const { path } = splitTarget(target)
  // The router ends the path at a `#`, and would answer the order `A` for `A#1`.
  const broken = path.includes('#') ? { parameter: 'path' } : findBrokenEncoding(target)
  if (broken !== undefined) return badEncoding(broken.parameter)
  // The router takes an empty segment as a parameter's value; in the API it is another path.
  if (hasEmptySegment(path)) return new RequestProblem('not-found')
  if (method === 'GET' || method === 'HEAD') return undefined
  return isKnownPath(path)
    ? new RequestProblem('method-not-allowed', { headers: { Allow: 'GET, HEAD' } })
    : new RequestProblem('not-found')
}

/** `parameter` is `path`, or the name of a parameter. */
export const badEncoding = (parameter: string): RequestProblem =>
  new RequestProblem('invalid-parameters', {
    errors: [{ parameter, message: 'must be percent-encoded UTF-8' }],
  })

const hasEmptySegment = (path: string) =>
  path.startsWith('/api/') && (path.includes('//') || path.endsWith('/'))
