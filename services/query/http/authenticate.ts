import type { IncomingHttpHeaders } from 'node:http'
import { type ApiKey, AuthenticationUnavailable, type Authenticator } from '@tally/access'
import { unavailable } from './problems.ts'

/**
 * Returns the function that finds a request's key; undefined without a valid token. The promise, or the call itself,
 * rejects with `service-unavailable` if nothing can tell whether the token is valid.
 */
export function createAuthenticate(
  authenticator: Authenticator,
): (headers: IncomingHttpHeaders) => ApiKey | undefined | Promise<ApiKey | undefined> {
  return headers => {
    const token = tokenOf(headers)
    if (token === undefined) return undefined
    try {
      const key = authenticator.authenticate(token)
      return key instanceof Promise ? key.catch(asProblem) : key
    } catch (error) {
      return asProblem(error)
    }
  }
}

/** `X-Api-Key` before `Authorization: Bearer`; an empty header counts as absent (docs/api.md, Tokens). */
export function tokenOf(headers: {
  'x-api-key'?: string | string[] | undefined
  authorization?: string | undefined
}): string | undefined {
  const own = headers['x-api-key']
  return typeof own === 'string' && own !== '' ? own : bearerToken(headers.authorization)
}

function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1]
}

function asProblem(error: unknown): never {
  throw error instanceof AuthenticationUnavailable ? unavailable() : error
}
