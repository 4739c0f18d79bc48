import { isIP } from 'node:net'
import { type ConnectionOptions, checkServerIdentity } from 'node:tls'

/**
 * TLS options for servers that announce each other: the nodes of a Redis Cluster, or a master that sentinels name. A
 * server that is announced by its address may have a certificate for one of the names in REDIS_URL (`hosts`) in place
 * of one for that address: clouds have certificates for names only, and announce addresses. Whoever could present such
 * a certificate could answer for the name itself, too. A server that is announced by a name must have that name.
 */
export function namedTls(hosts: string[]): ConnectionOptions {
  const names = hosts.filter(host => isIP(host) === 0)
  return {
    checkServerIdentity(host, certificate) {
      const fault = checkServerIdentity(host, certificate)
      if (fault === undefined || isIP(host) === 0) return fault
      return names.some(name => checkServerIdentity(name, certificate) === undefined) ? undefined : fault
    },
  }
}
