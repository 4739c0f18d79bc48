import { databaseAddresses, type Part, parseSentinels, type Settings } from '@tally/platform'

export type Address = { host: string; port: number }

/** The addresses that the settings name for a part, and whether they are connected to over TLS. */
export function endpointsOf(part: Part, settings: Settings): { endpoints: Address[]; isTls: boolean } {
  switch (part) {
    case 'kafka': {
      const { brokers, ssl } = settings.kafka
      return { endpoints: brokers.map(broker => endpointOf(`kafka://${broker}`, 9092)), isTls: ssl }
    }
    case 'postgres': {
      const addresses = databaseAddresses(settings.databaseUrl)
      return { endpoints: addresses.map(one => endpointOf(one, 5432)), isTls: addresses.some(hasTls) }
    }
    case 'redis': {
      const [first = ''] = settings.redisNodes
      const sentinels = parseSentinels(first)
      if (sentinels !== undefined) return { endpoints: sentinels.sentinels, isTls: sentinels.isTls }
      const endpoints = settings.redisNodes.map(node => endpointOf(node, 6379))
      return { endpoints, isTls: first.startsWith('rediss:') }
    }
    default:
      return part satisfies never
  }
}

/** TLS as pg reads it from the address. */
function hasTls(address: string): boolean {
  const { searchParams } = new URL(address)
  const mode = searchParams.get('sslmode')
  if (mode !== null) return mode !== 'disable'
  return searchParams.has('sslrootcert') || /^(true|1|no-verify)$/.test(searchParams.get('ssl') ?? '')
}

function endpointOf(address: string, usualPort: number): Address {
  const { hostname, port } = new URL(address)
  return { host: hostname.replace(/^\[(.+)\]$/, '$1') || 'localhost', port: Number(port || usualPort) }
}
