import type { FastifyRequest } from 'fastify'
import { PageProblem } from './problem.ts'

/**
 * Refuses a request that changes something if the browser says that it comes from another site. It is the first of two
 * guards against forged requests; the other is the token in each form. A client that sends neither header is not a
 * browser.
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
