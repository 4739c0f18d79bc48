import { deadline, isRefusedWrite, type RedisClient } from '@tally/platform'

/**
 * Guards reads of Redis: a call that fails or is too slow returns undefined, and the caller asks Postgres. It also
 * tracks whether Redis accepts writes: if not, nothing is published, and its documents grow old.
 */
export type Breaker = {
  /** The call's result; undefined if the breaker is open, or the call fails or is too slow, counted from `sinceMs`. */
  attempt<Result>(call: () => Promise<Result>, sinceMs?: number): Promise<Result | undefined>
  /** Calls `late` once Redis has taken too long since `sinceMs`; returns what cancels it (false: too late). */
  deadline(sinceMs: number, late: () => void): () => boolean
  /** While it is open, Redis is not asked: it was too slow, and has not answered a ping since. */
  isOpen(): boolean
  /** Opens the breaker. */
  trip(): void
  /** Closes the breaker for a while, with a longer time-out: Postgres has failed, so only Redis can answer. */
  forceClosed(): void
  /** Call it after each write, with the error if it failed. */
  noteWrite(error?: unknown): void
  refusesWrites(): boolean
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
  let isOpen = false
  let forcedUntilMs = 0
  const currentTimeoutMs = () => (performance.now() < forcedUntilMs ? forcedTimeoutMs : timeoutMs)
  let refusesWrites = false
  let refusedMs = 0

  // async: the client of a cluster throws at once if no node has the slot.
  const ping = async () => redis.ping()
  const probeLater = () => setTimeout(probe, cooldownMs).unref()
  /** Pings Redis, one ping at a time, until it answers in time; requests do not wait for that. */
  const probe = () => {
    const cancel = deadline(performance.now(), timeoutMs, probeLater)
    const answered = () => {
      if (cancel()) isOpen = false
    }
    // A ping that fails closes the breaker too: without a connection every command fails at once.
    ping().then(answered, answered)
  }
  const trip = () => {
    if (isOpen || performance.now() < forcedUntilMs) return
    isOpen = true
    onFailure(tooSlow())
    probeLater()
  }

  return {
    attempt<Result>(call: () => Promise<Result>, sinceMs = performance.now()) {
      if (isOpen) return Promise.resolve(undefined)
      const { promise, resolve } = Promise.withResolvers<Result | undefined>()
      const cancel = deadline(sinceMs, currentTimeoutMs(), () => {
        onFailure(tooSlow())
        resolve(undefined)
      })
      const failed = (error: unknown) => {
        if (!cancel()) return
        onFailure(error)
        resolve(undefined)
      }
      try {
        call().then(result => {
          cancel()
          resolve(result)
        }, failed)
      } catch (error) {
        failed(error)
      }
      return promise
    },
    deadline: (sinceMs, late) => deadline(sinceMs, currentTimeoutMs(), late),
    isOpen: () => isOpen,
    trip,
    forceClosed() {
      forcedUntilMs = performance.now() + forcedMs
      isOpen = false
    },
    noteWrite(error) {
      if (error !== undefined) onFailure(error)
      const isRefused = error !== undefined && isRefusedWrite(error)
      if (isRefused) refusedMs = performance.now()
      // Other errors do not tell whether Redis accepts writes.
      if (refusesWrites === isRefused || (error !== undefined && !isRefused)) return
      refusesWrites = isRefused
      onWritable(!isRefused, error)
    },
    refusesWrites: () => refusesWrites,
    refusedLately: () => refusesWrites && performance.now() - refusedMs < latelyMs,
  }
}

export const tooSlow = () => new Error('Redis is too slow')
