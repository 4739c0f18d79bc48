import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'

const exposed = [
  'Date',
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
 * Lets pages of these origins read the API (docs/api.md, Browsers); undefined if there are none. A request without
 * Origin gets no CORS headers, and OPTIONS is treated like any other method.
 */
export function allowedOrigins(origins: string[]): Cors | undefined {
  if (origins.length === 0) return undefined
  const any = origins.includes('*')

  const set: Cors['set'] = (response, origin) => {
    if (!any) response.setHeader('Vary', 'Origin')
    if (origin === undefined || !(any || origins.includes(origin))) return false
    response.setHeader('Access-Control-Allow-Origin', any ? '*' : origin)
    response.setHeader('Access-Control-Expose-Headers', exposed)
    return true
  }
  const hook: Hook = (request, reply, done) => {
    const isAllowed = set(reply.raw, request.headers.origin)
    if (!isAllowed || request.method !== 'OPTIONS') return done()
    if (request.headers['access-control-request-method'] === undefined) return done()
    reply
      .code(204)
      .header('X-Request-Id', request.id)
      .header('Access-Control-Allow-Methods', 'GET, HEAD')
      .header('Access-Control-Allow-Headers', 'X-Api-Key, Authorization, If-None-Match')
      .header('Access-Control-Max-Age', '600')
      .send()
  }
  return { set, hook }
}

export type Cors = {
  /** Sets the headers of an answer to a request from `origin`; returns whether that is an allowed one. */
  set(response: ServerResponse, origin: string | undefined): boolean
  /** Sets them for fastify's answers, and answers preflights. */
  hook: Hook
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void
