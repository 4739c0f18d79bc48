/** The rate limit has refused all that share a read: it goes no further, and nobody waits for it. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

/**
 * A read may begin before the rate limit has answered, but what costs others something (a query to Postgres, an entry in a
 * cache) waits for this: it resolves once one of those who share the read is granted, and rejects with Refused if none is.
 */
export type Permit = Promise<void>

export type OpenPermit = { granted: Permit; join(granting: Promise<{ granted: boolean }>): void }

/** A permit that takes in the grant of each request that joins the read. */
export function openPermit(): OpenPermit {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let undecided = 0
  const refused = (error: unknown) => {
    undecided -= 1
    if (undecided === 0) reject(error)
  }
  promise.catch(() => undefined)
  return {
    granted: promise,
    join(granting) {
      undecided += 1
      granting.then(({ granted }) => (granted ? resolve() : refused(new Refused())), refused)
    },
  }
}

/** Of a read that begins after its grant. */
export const granted: Permit = Promise.resolve()
