import type { Grant } from './rateLimit.ts'

/** The rate limit has refused all that share a read: it goes no further, and nobody waits for it. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

/**
 * A read may begin before the rate limit has answered, but what costs others something (a query to Postgres, an entry in a
 * cache) waits for this: it rejects with Refused if the limit refuses.
 */
export type Permit = Promise<void>

export function permitOf(granting: Promise<Grant>): Permit {
  const permit = granting.then(({ granted }) => {
    if (!granted) throw new Refused()
  })
  // A read that ends before has no use for it.
  permit.catch(() => undefined)
  return permit
}

/** Of a read that begins after its grant. */
export const granted: Permit = Promise.resolve()
