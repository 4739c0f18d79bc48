/** The rate limit's decision on one request (docs/api.md, Rate limit). */
export type LimitDecision = { allowed: boolean; limit: number; remaining: number; resetMs: number }

/** The rate limit has refused the request that began a read: the read stops. One that is allowed reads again. */
export class LimitExceeded extends Error {
  override readonly name = 'LimitExceeded'
}

/**
 * A read may begin before the rate limit has answered, but anything that costs other organizations something (a query
 * to Postgres, an entry in a cache) waits for this promise. It rejects with LimitExceeded if the limit refuses.
 */
export type Allowance = Promise<void>

export function allowanceOf(deciding: Promise<LimitDecision>): Allowance {
  const allowance = deciding.then(({ allowed }) => {
    if (!allowed) throw new LimitExceeded()
  })
  // A read that has ended does not await it.
  allowance.catch(() => undefined)
  return allowance
}

/** The allowance of a read that begins after its decision. */
export const allowed: Allowance = Promise.resolve()
