import { EventEmitter } from 'node:events'
import { Cluster, type ClusterOptions, type Redis } from 'ioredis'

type Client = Redis | Cluster

/** What callers listen for; `node error` is an error of one node of a cluster. */
const forwarded = ['ready', 'error', 'node error']

/** Replies to the database number of an address, which ioredis would pass over: it would go on with database 0. */
const noSuchDatabase = /DB index is out of range|SELECT is not allowed/

/**
 * One client for one address, behind which is a single Redis or a whole Redis Cluster: the one endpoint that clouds
 * have for it. It is a client of a single Redis until that says in its INFO that it is part of a cluster, which is
 * before the first command, or answers MOVED; from then on it is a client of the cluster. Nothing may remember which
 * of the two it was: a process may have started while Redis was down.
 *
 * `openOne` gets what to call when MOVED was answered.
 */
export function openOneAddress(openOne: (onMoved: () => void) => Redis, openCluster: () => Cluster): Client {
  const events = new EventEmitter()
  const forward = (from: Client) => {
    for (const event of forwarded) from.on(event, (...given) => events.emit(event, ...given))
  }
  const become = () => {
    if (current !== one) return
    if (one.options.db)
      return void events.emit('error', new Error('Tally uses database 0 of a Redis Cluster'))
    current = openCluster()
    for (const name of Reflect.ownKeys(client)) Reflect.deleteProperty(client, name)
    forward(current)
    one.disconnect()
  }
  const one = openOne(become)
  let current: Client = one
  forward(one)
  let isRefused = false
  one.on('error', ({ message }) => {
    isRefused ||= noSuchDatabase.test(message)
  })
  // Called with the INFO that ioredis asks for on each new connection; false: the connection is not used.
  // biome-ignore lint/complexity/useLiteralKeys: ioredis's type calls the connector private
  one['connector'].check = (info?: { cluster_enabled?: string }) => {
    if (info?.cluster_enabled === '1') become()
    const isUsed = info?.cluster_enabled !== '1' && !isRefused
    isRefused = false
    return isUsed
  }
  const proxy = new Proxy<Client>(one, {
    get(_, name) {
      const from = name in events ? events : current
      const value = Reflect.get(from, name, from)
      const member = typeof value === 'function' ? value.bind(from) : value
      // Looked up once for each client: every request batch asks for `isCluster` and calls a script.
      if (member !== value || name === 'isCluster') Object.assign(client, { [name]: member })
      return member
    },
    getPrototypeOf: () => Reflect.getPrototypeOf(current),
  })
  const client: Client = Object.create(proxy)
  return client
}

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
  const last: { error?: Error; host?: string | undefined } = {}
  const cluster = new Cluster(nodes, {
    ...options,
    // Of MOVED, which names only a port then.
    natMap: key => (key.startsWith(':') ? { host: last.host ?? '', port: Number(key.slice(1)) } : null),
  } as ConstructorParameters<typeof Cluster>[1])

  const asking = (node: Redis): Asked => ({
    duplicate(given) {
      const connection = node.duplicate(given)
      const { host } = node.options
      connection.on('error', error => {
        last.error = error
      })
      const ask = connection.cluster.bind(connection) as unknown as Asking['cluster']
      const withHosts = (slots: Slots): Slots => {
        for (const [, , ...ofRange] of slots) for (const one of ofRange) one[0] ||= host ?? null
        last.host = host
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
    if (error.lastNodeError?.message === 'Connection is closed.') error.lastNodeError = last.error
  })
  return cluster
}
