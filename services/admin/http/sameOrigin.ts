import type { FastifyRequest } from 'fastify'
import { PageProblem } from './problem.ts'

/**
 * Whether a request that changes something comes from our own pages, by what the browser says of it: the first of two
 * guards against forged requests, the other is the token in each form. A client that says nothing is no browser.
 */
export function checkSameOrigin({ method, headers }: FastifyRequest): void {
  if (method === 'GET' || method === 'HEAD') return
  const site = headers['sec-fetch-site']
  const isOwn = site === undefined ? isOwnOrigin(headers.origin, headers.host) : site === 'same-origin'
  if (!isOwn)
    throw new PageProblem(
      403,
      'This request came from another site',
      'Open the administration area directly and try again.',
    )
}

function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === host
}
