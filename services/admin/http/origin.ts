import { isIP, SocketAddress } from 'node:net'
import type { Logger } from '@tally/platform'
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

/** Whether a browser signs out, by checkSameOrigin from a page of here: an old tab has the token of a past session. */
export const isOwnSignOut = ({ url, headers }: FastifyRequest): boolean =>
  url === '/sign-out' && (headers['sec-fetch-site'] ?? headers.origin) !== undefined

function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === host
}

/**
 * Returns a check of each request that warns once if it came through a proxy that is not declared: the area then sees
 * the proxy's address in place of the clients', who share one limit of sign-in attempts.
 */
export function watchProxies(logger: Logger): (request: FastifyRequest) => void {
  let hasWarned = false
  return ({ headers, ip, socket }) => {
    // A declared proxy makes `ip` the client's address.
    if (hasWarned || headers['x-forwarded-for'] === undefined || ip !== socket.remoteAddress) return
    hasWarned = true
    logger.warn(
      { address: socket.remoteAddress },
      'X-Forwarded-For is ignored, because it came from an address that is not in ADMIN_TRUSTED_PROXIES: if a proxy is there, set ADMIN_TRUSTED_PROXIES and ADMIN_URL',
    )
  }
}

/** How long a text is kept that a proxy wrote in place of an address. */
const longest = 64

/**
 * An address in one form, so that one client is one in the audit trail, the sessions and the limits: an IPv4 address
 * that came over an IPv6 socket as IPv4, an IPv6 address as RFC 5952 writes it, without zone, brackets or the port that
 * some proxies add. Another text stays as it is, at most 64 characters of it.
 */
export function plainAddress(text: string): string {
  const bare = bareOf(text.trim())
  if (isIP(bare) === 4) return bare
  if (isIP(bare) !== 6) return text.slice(0, longest)
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' })
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1] ?? address
}

/** Without brackets, port and zone. */
function bareOf(text: string): string {
  const [, inBrackets] = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text) ?? []
  const [, beforePort] = /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(text) ?? []
  const [bare = ''] = (inBrackets ?? beforePort ?? text).split('%')
  return bare
}
