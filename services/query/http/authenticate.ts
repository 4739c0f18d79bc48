import { type ApiKey, AuthenticationUnavailable, type Authenticator } from '@tally/access'
import type { FastifyRequest } from 'fastify'
import { microCache } from './microCache.ts'
import { unavailable } from './problems.ts'

/**
 * Returns the function that finds a request's key; undefined without a valid token. The promise, or the call itself,
 * rejects with `service-unavailable` if nothing can tell whether the token is valid.
 */
export function openAuthenticate(
  authenticator: Authenticator,
): (request: FastifyRequest) => ApiKey | undefined | Promise<ApiKey | undefined> {
  /** Keys by token, so that a token that is repeated within 2 ms is hashed once. It holds valid tokens only. */
  const recent = microCache<string, ApiKey>()

  return ({ headers }) => {
    const token = tokenOf(headers)
    if (token === undefined) return undefined
    const cache = recent()
    const known = cache.get(token)
    if (known !== undefined) return known
    try {
      const key = authenticator.authenticate(token)
      if (key instanceof Promise) return key.catch(asProblem)
      if (key !== undefined) cache.set(token, key)
      return key
    } catch (error) {
      return asProblem(error)
    }
  }
}

/** `X-Api-Key` before `Authorization: Bearer`; an empty header counts as absent (docs/api.md, Tokens). */
function tokenOf(headers: FastifyRequest['headers']): string | undefined {
  const own = headers['x-api-key']
  return typeof own === 'string' && own !== '' ? own : bearerToken(headers.authorization)
}

function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1]
}

function asProblem(error: unknown): never {
  throw error instanceof AuthenticationUnavailable ? unavailable() : error
}
