/** The rate limit's decision on one request (docs/api.md, Rate limit). */
export type Grant = { granted: boolean; limit: number; remaining: number; resetMs: number }

/** The rate limit has refused all requests that share a read: the read stops, and no request waits for it. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

/**
 * A read may begin before the rate limit has answered, but anything that costs other organizations something (a query
 * to Postgres, an entry in a cache) waits for this promise. It rejects with Refused if the limit refuses.
 */
export type Permit = Promise<void>

export function permitOf(granting: Promise<Grant>): Permit {
  const permit = granting.then(({ granted }) => {
    if (!granted) throw new Refused()
  })
  // A read that has ended does not await it.
  permit.catch(() => undefined)
  return permit
}

/** The permit of a read that begins after its grant. */
export const granted: Permit = Promise.resolve()
