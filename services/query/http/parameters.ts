import type { Endpoint } from '@tally/contract'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import { parseQuery } from './encoding.ts'
import type { ParameterError } from './problems.ts'

export type Parsed =
  /** `ignored` is the value of `Tally-Ignored`, if the request has parameters that the endpoint does not know. */
  { params: unknown; query: unknown; ignored?: string } | { errors: ParameterError[] }

const rememberedTargets = 5_000
const longestRemembered = 300

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

function parseWith({ params, query }: Endpoint, request: FastifyRequest): Parsed {
  // The query is text: app.ts disables fastify's parser.
  const given = { params: request.params, query: parseQuery(request.query as string) }
  const [ofPath, ofQuery] = [params.safeParse(given.params), query.safeParse(given.query)]
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
