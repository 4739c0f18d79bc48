import type { Endpoint } from '@tally/contract'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import { parseQuery } from './encoding.ts'
import type { ParameterError } from './problems.ts'

export type Parsed = { params: unknown; query: unknown } | { errors: ParameterError[] }

/** What is right, by the request's target, which alone decides it: devices ask the same ones again and again. */
const remembered = new LRUCache<string, Parsed>({ max: 5_000 })
const longestRemembered = 300

/**
 * Path and query as the contract's schemas read them, or what is wrong with each parameter. The same object for the same
 * target, as long as it is remembered.
 */
export function parse({ params, query }: Endpoint, request: FastifyRequest): Parsed {
  const known = remembered.get(targetOf(request))
  if (known !== undefined) return known
  // The query's text: app.ts has fastify leave it as it is.
  const given = { params: request.params, query: parseQuery(request.query as string) }
  const [ofPath, ofQuery] = [params.safeParse(given.params), query.safeParse(given.query)]
  if (!ofPath.success || !ofQuery.success)
    return { errors: [...errorsOf(ofPath.error, given.params), ...errorsOf(ofQuery.error, given.query)] }
  return { params: ofPath.data, query: ofQuery.data }
}

/** Caches the parsed parameters of a request that the rate limit has granted: refused requests evict nothing. */
export function rememberParsed(request: FastifyRequest, parsed: Parsed): void {
  const target = targetOf(request)
  if (target.length <= longestRemembered && !remembered.has(target)) remembered.set(target, parsed)
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
