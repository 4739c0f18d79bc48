import { EventEmitter } from 'node:events'
import type { Cluster, Redis } from 'ioredis'

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
    if (one.options.db) {
      events.emit('error', new Error('Tally uses database 0 of a Redis Cluster'))
      return
    }
    current = openCluster()
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
  return new Proxy<Client>(one, {
    get(_, name) {
      const from = name in events ? events : current
      const value = Reflect.get(from, name, from)
      return typeof value === 'function' ? value.bind(from) : value
    },
    getPrototypeOf: () => Reflect.getPrototypeOf(current),
  })
}
