import type { Logger } from '@tally/platform'
import type { FastifyRequest } from 'fastify'

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
