import { isIP, SocketAddress } from 'node:net'

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
