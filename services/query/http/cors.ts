import type { FastifyReply, FastifyRequest } from 'fastify'

const exposed = [
  'ETag',
  'Retry-After',
  'Tally-As-Of',
  'WWW-Authenticate',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
].join(', ')

/**
 * Returns the hook that lets pages of these origins read the API (docs/api.md, Browsers); undefined if there are none.
 * A request without Origin gets no CORS headers, and OPTIONS is treated like any other method.
 */
export function allowedOrigins(origins: string[]): Hook | undefined {
  if (origins.length === 0) return undefined
  const any = origins.includes('*')

  return (request, reply, done) => {
    if (!any) reply.raw.setHeader('Vary', 'Origin')
    const { origin } = request.headers
    if (origin === undefined || !(any || origins.includes(origin))) return done()
    reply.raw.setHeader('Access-Control-Allow-Origin', any ? '*' : origin)
    reply.raw.setHeader('Access-Control-Expose-Headers', exposed)
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined)
      return done()
    reply
      .code(204)
      .header('X-Request-Id', request.id)
      .header('Access-Control-Allow-Methods', 'GET, HEAD')
      .header('Access-Control-Allow-Headers', 'X-Api-Key, Authorization, If-None-Match')
      .header('Access-Control-Max-Age', '600')
      .send()
  }
}

export type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void
