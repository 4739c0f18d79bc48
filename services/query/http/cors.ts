import type { FastifyReply, FastifyRequest } from 'fastify'

const exposed =
  'Date, ETag, Retry-After, Tally-As-Of, Tally-Ignored, WWW-Authenticate, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id'

/**
 * Lets pages of these origins read the API (docs/api.md, Browsers); undefined if there are none. A request without
 * Origin gets no CORS headers, and OPTIONS is treated like any other method.
 */
export function allowedOrigins(origins: string[]): Cors | undefined {
  if (origins.length === 0) return undefined
  const any = origins.includes('*')

  const isAllowed = (origin: string | undefined): origin is string =>
    origin !== undefined && (any || origins.includes(origin))

  const headers: Cors['headers'] = origin => {
    const vary = any ? [] : ['Vary', 'Origin']
    if (!isAllowed(origin)) return vary
    return [
      ...vary,
      'Access-Control-Allow-Origin',
      any ? '*' : origin,
      'Access-Control-Expose-Headers',
      exposed,
    ]
  }
  const hook: Hook = (request, reply, done) => {
    const { origin } = request.headers
    const list = headers(origin)
    for (let index = 0; index < list.length; index += 2)
      reply.raw.setHeader(list[index] as string, list[index + 1] as string)
    if (!isAllowed(origin) || request.method !== 'OPTIONS') return done()
    if (request.headers['access-control-request-method'] === undefined) return done()
    reply
      .code(204)
      .header('X-Request-Id', request.id)
      .header('Access-Control-Allow-Methods', 'GET, HEAD')
      .header('Access-Control-Allow-Headers', 'X-Api-Key, Authorization, If-None-Match')
      .header('Access-Control-Max-Age', '600')
      .send()
  }
  return { headers, hook }
}

export type Cors = {
  /** The headers of an answer to a request from `origin`: a flat list of names and values. */
  headers(origin: string | undefined): string[]
  /** Sets them for fastify's answers, and answers preflights. */
  hook: Hook
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void
