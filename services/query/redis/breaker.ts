import { deadline, isRefusedWrite, type RedisClient } from '@tally/platform'

/**
 * Guards reads of Redis: a call that fails or is too slow returns undefined, and the caller asks Postgres. It also
 * tracks whether Redis accepts writes: if not, nothing is published, and its documents grow old.
 */
export type Breaker = {
  /** The call's result; undefined if the breaker is open, or the call fails or is too slow, counted from `sinceMs`. */
  attempt<Result>(call: () => Promise<Result>, sinceMs?: number): Promise<Result | undefined>
  /** How long Redis may take at the moment. */
  readonly timeoutMs: number
  /** While it is open, Redis is not asked: it was too slow, and has not answered a ping since. */
  readonly isOpen: boolean
  /** Opens the breaker. */
  trip(): void
  /** Closes the breaker for a while, with a longer time-out: Postgres has failed, so only Redis can answer. */
  forceClosed(): void
  /** Call it after each write that failed, with the error, and after one that did not if `refusesWrites`. */
  noteWrite(error?: unknown): void
  readonly refusesWrites: boolean
  /** Whether it has refused one in the last 30 s, and none was accepted since: without requests, nothing is known. */
  refusedLately(): boolean
}

export type BreakerDeps = {
  redis: Pick<RedisClient, 'ping'>
  onFailure: (error: unknown) => void
  /** Called once when Redis begins to refuse writes, and once when it accepts them again. */
  onWritable?: (isWritable: boolean, error?: unknown) => void
}

/** Redis normally answers in less than 1 ms. With the time of Postgres added, an answer takes at most 100 ms. */
export const timeoutMs = 80
/** The time-out while only Redis can answer: a late answer, of up to three round trips, is better than none. */
const forcedTimeoutMs = 1_500
const forcedMs = 2_000
/** How long to wait before the next ping. */
const cooldownMs = 1_000
const latelyMs = 30_000

export function createBreaker({ redis, onFailure, onWritable = () => {} }: BreakerDeps): Breaker {
  let refusedMs = 0
  const forced = setTimeout(() => {
    breaker.timeoutMs = timeoutMs
  }, forcedMs).unref()

  // async: the client of a cluster throws at once if no node has the slot.
  const begin = async <Result>(call: () => Promise<Result>) => call()
  const probeLater = () => setTimeout(probe, cooldownMs).unref()
  /** Pings Redis, one ping at a time, until it answers in time; requests do not wait for that. */
  const probe = () => {
    const cancel = deadline(performance.now(), timeoutMs, probeLater)
    const answered = () => {
      if (cancel()) breaker.isOpen = false
    }
    // A ping that fails closes the breaker too: without a connection every command fails at once.
    begin(() => redis.ping()).then(answered, answered)
  }

  // Its state is what each request batch looks at, so these are fields and not calls.
  const breaker: { -readonly [Name in keyof Breaker]: Breaker[Name] } = {
    timeoutMs,
    isOpen: false,
    refusesWrites: false,
    attempt<Result>(call: () => Promise<Result>, sinceMs = performance.now()) {
      if (breaker.isOpen) return Promise.resolve(undefined)
      const { promise, resolve } = Promise.withResolvers<Result | undefined>()
      const cancel = deadline(sinceMs, breaker.timeoutMs, () => {
        onFailure(tooSlow())
        resolve(undefined)
      })
      const succeeded = (result: Result) => {
        cancel()
        resolve(result)
      }
      begin(call).then(succeeded, error => {
        if (cancel()) onFailure(error)
        resolve(undefined)
      })
      return promise
    },
    trip() {
      if (breaker.isOpen || breaker.timeoutMs === forcedTimeoutMs) return
      breaker.isOpen = true
      onFailure(tooSlow())
      probeLater()
    },
    forceClosed() {
      breaker.timeoutMs = forcedTimeoutMs
      breaker.isOpen = false
      forced.refresh()
    },
    noteWrite(error) {
      if (error !== undefined) onFailure(error)
      const isRefused = error !== undefined && isRefusedWrite(error)
      if (isRefused) refusedMs = performance.now()
      // Other errors do not tell whether Redis accepts writes.
      if (breaker.refusesWrites === isRefused || (error !== undefined && !isRefused)) return
      breaker.refusesWrites = isRefused
      onWritable(!isRefused, error)
    },
    refusedLately: () => breaker.refusesWrites && performance.now() - refusedMs < latelyMs,
  }
  return breaker
}

export const tooSlow = () => new Error('Redis is too slow')
