import type { FastifyRequest } from 'fastify'
import { findBrokenEncoding, splitTarget } from './encoding.ts'
import { RequestProblem } from './problems.ts'

/**
 * Checks a request before the router's result is used and before fastify reads a body (one that it cannot parse would
 * be its own error, not a 405); undefined if nothing is wrong.
 */
export function checkRequest(
  { raw, method }: FastifyRequest,
  isKnownPath: (path: string) => boolean,
): RequestProblem | undefined {
  const target = raw.url ?? '/'
  const broken = findBrokenEncoding(target)
  if (broken !== undefined) return badEncoding(broken.parameter)
  // The router takes an empty segment as a parameter's value; in the API it is another path.
  const { path } = splitTarget(target)
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
