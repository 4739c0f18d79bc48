import { Cluster, type ClusterOptions, type Redis } from 'ioredis'

type Reply = (error: Error | null, slots?: Slots) => void
/** Of each range of slots: its ends, and host, port and more of each node. */
type Slots = [from: number, to: number, ...nodes: [host: string | null, ...unknown[]][]][]
/** As ioredis asks it; the method is not in its types. */
type Asking = { cluster: (what: 'SLOTS', done: Reply) => unknown }
type Asked = { duplicate: (options: object) => Redis }

/**
 * A client of a Redis Cluster without two faults of ioredis 6.0.0, which asks a node for the slots on a connection of
 * its own. It says of one that could not be made only that it is closed; here, it says why. And it passes over nodes
 * without a host, which is that of the node that was asked: a cluster of one node does not know its address, and
 * others do not tell theirs (`cluster-preferred-endpoint-type unknown-endpoint`).
 */
export function openClusterClient(nodes: string[], options: ClusterOptions): Cluster {
  let lastError: Error | undefined
  let lastHost: string | undefined
  const cluster = new Cluster(nodes, {
    ...options,
    // Of MOVED, which names only a port then.
    natMap: key => (key.startsWith(':') ? { host: lastHost ?? '', port: Number(key.slice(1)) } : null),
  } as ConstructorParameters<typeof Cluster>[1])

  const asking = (node: Redis): Asked => ({
    duplicate(given) {
      const connection = node.duplicate(given)
      const { host } = node.options
      connection.on('error', error => {
        lastError = error
      })
      const ask = connection.cluster.bind(connection) as unknown as Asking['cluster']
      const withHosts = (slots: Slots): Slots => {
        for (const [, , ...ofRange] of slots) for (const one of ofRange) one[0] ||= host ?? null
        lastHost = host
        return slots
      }
      ;(connection as unknown as Asking).cluster = (what, done) =>
        ask(what, (error, slots) => done(error, slots && withHosts(slots)))
      return connection
    },
  })
  // biome-ignore lint/complexity/useLiteralKeys: ioredis's type calls the method private
  const getInfo = cluster['getInfoFromNode'].bind(cluster) as (node: Asked, done: Reply) => void
  // biome-ignore lint/complexity/useLiteralKeys: as above
  cluster['getInfoFromNode'] = (node: Redis, done: Reply) => getInfo(node && asking(node), done)
  cluster.on('error', (error: { lastNodeError?: Error | undefined }) => {
    if (error.lastNodeError?.message === 'Connection is closed.') error.lastNodeError = lastError
  })
  return cluster
}
