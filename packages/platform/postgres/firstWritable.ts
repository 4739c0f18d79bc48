import type { PostgresPool } from 'kysely'
import { reasonOf } from '../lifecycle/errors.ts'

/**
 * One pool for several hosts, because pg supports only one: a connection comes from the host that served the last one
 * or, if that fails, from the next host that is reachable and writable.
 */
export function firstWritable(pools: PostgresPool[]): PostgresPool {
  const [first] = pools
  if (first === undefined) throw new Error('no Postgres host is configured')
  if (pools.length === 1) return first
  let last = 0
  return {
    options: first.options,
    async connect() {
      const errors: unknown[] = []
      for (const at of [...pools.keys()].map(step => (last + step) % pools.length)) {
        try {
          const client = await (pools[at] as PostgresPool).connect()
          last = at
          return client
        } catch (error) {
          errors.push(error)
        }
      }
      throw new AggregateError(errors, `no host is writable: ${errors.map(reasonOf).join('; ')}`)
    },
    async end() {
      await Promise.all(pools.map(pool => pool.end()))
    },
  }
}
