import { isIPv6 } from 'node:net'

/**
 * The networks that an address counts for, the smaller one first: an IPv4 address itself, and of an IPv6 address the
 * /64, which one machine has, and the /48, which one site has. The address is in its one form (http/plainAddress.ts).
 */
export function networksOf(address: string): string[] {
  if (!isIPv6(address)) return [address]
  const [before = [], after = []] = address
    .split('::')
    .map(part => part.split(':').filter(group => group !== ''))
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  const groups = [...before, ...zeros, ...after]
  return [4, 3].map(count => groups.slice(0, count).join(':'))
}
