/**
 * Guards calls to Redis: a call that fails gives undefined, and the caller goes another way. After a time-out
 * further calls are not tried for a moment, so that a Redis that hangs does not cost every request its time-out;
 * a Redis that refuses the connection fails at once anyway.
 */
export type Breaker = {
  attempt<Result>(call: () => Promise<Result>): Promise<Result | undefined>
}

const restMs = 1_000

export function openBreaker(onFailure: (error: unknown) => void): Breaker {
  let restUntilMs = 0
  return {
    async attempt(call) {
      if (Date.now() < restUntilMs) return undefined
      try {
        return await call()
      } catch (error) {
        if (error instanceof Error && /timed out/i.test(error.message)) restUntilMs = Date.now() + restMs
        onFailure(error)
        return undefined
      }
    },
  }
}
