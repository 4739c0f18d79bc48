import { isIPv6 } from 'node:net'

/**
 * The networks that an address counts for, the smaller one first: an IPv4 address itself, and of an IPv6 address the
 * /64, which one machine has, and the /48, which one site has.
 */
export function networksOf(address: string): string[] {
  const [bare = ''] = address.split('%')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1]
  if (mapped !== undefined) return [mapped]
  if (!isIPv6(bare)) return [address]
  const [head = '', tail] = bare.toLowerCase().split('::')
  const before = head.split(':').filter(group => group !== '')
  const after = (tail ?? '').split(':').filter(group => group !== '')
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  const groups = (tail === undefined ? before : [...before, ...zeros, ...after]).map(group =>
    Number.parseInt(group, 16).toString(16),
  )
  return [4, 3].map(count => groups.slice(0, count).join(':'))
}
