import type { RedisClient } from '@tally/read-models'

/**
 * Guards reads of Redis: a call that fails, or that is too slow, gives undefined, and the caller asks Postgres. It also knows
 * whether Redis takes writes: if not, nobody can publish, and its documents grow old.
 */
export type Breaker = {
  /** The call's result; undefined if the breaker is open, the call fails, or it is not done in time after `sinceMs`. */
  attempt<Result>(call: () => Promise<Result>, sinceMs?: number): Promise<Result | undefined>
  /** Calls `late` when Redis is too slow after `sinceMs`, unless it is cancelled before; returns what cancels it (false: too late). */
  deadline(sinceMs: number, late: () => void): () => boolean
  /** While open Redis is not asked: it was too slow, and has not answered a ping since. */
  isOpen(): boolean
  /** Opens it. */
  trip(): void
  /** Closes it for a while, with more patience: Postgres has failed, and nobody else can answer. */
  rely(): void
  /** Notes what came of a write: no error, or the one it failed with. */
  noteWrite(error?: unknown): void
  refusesWrites(): boolean
}

export type BreakerParts = {
  redis: Pick<RedisClient, 'ping'>
  onFailure: (error: unknown) => void
  /** Called once when Redis begins to refuse writes, and once when it takes them again. */
  onWritable?: (isWritable: boolean, error?: unknown) => void
}

/** Redis takes below 1 ms. With what Postgres then takes, an answer comes within 100 ms. */
export const patienceMs = 80
/** While Redis alone can answer: better a late answer than none. */
const lastPatienceMs = 1_000
const relyMs = 2_000
/** A timer that fires so much too late shows that this process was busy, not Redis. */
const busyMs = 20
/** Between being too slow and the next ping. */
const restMs = 1_000

/** How Redis refuses a write while it answers reads: full, a replica, disk errors, too few replicas. */
const refusals = /\b(OOM|READONLY|MISCONF|NOREPLICAS)\b/

export function openBreaker({ redis, onFailure, onWritable = () => {} }: BreakerParts): Breaker {
  let isOpen = false
  let reliedUntilMs = 0
  const patience = () => (performance.now() < reliedUntilMs ? lastPatienceMs : patienceMs)
  let refusesWrites = false

  const rest = () => setTimeout(probe, restMs).unref()
  /** One ping at a time finds out whether Redis is back, so that no request waits for it. */
  const probe = () => {
    const cancel = deadline(performance.now(), patienceMs, rest)
    const answered = () => {
      if (cancel()) isOpen = false
    }
    // Without a connection every command fails at once: nobody waits for those.
    redis.ping().then(answered, answered)
  }
  const trip = () => {
    if (isOpen || performance.now() < reliedUntilMs) return
    isOpen = true
    onFailure(tooSlow())
    rest()
  }

  return {
    attempt<Result>(call: () => Promise<Result>, sinceMs = performance.now()) {
      if (isOpen) return Promise.resolve(undefined)
      const { promise, resolve } = Promise.withResolvers<Result | undefined>()
      const cancel = deadline(sinceMs, patience(), () => {
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
    deadline: (sinceMs, late) => deadline(sinceMs, patience(), late),
    isOpen: () => isOpen,
    trip,
    rely() {
      reliedUntilMs = performance.now() + relyMs
      isOpen = false
    },
    noteWrite(error) {
      if (error !== undefined) onFailure(error)
      const isRefused = error instanceof Error && refusals.test(error.message)
      // Any other error tells nothing of writes.
      if (refusesWrites === isRefused || (error !== undefined && !isRefused)) return
      refusesWrites = isRefused
      onWritable(!isRefused, error)
    },
    refusesWrites: () => refusesWrites,
  }
}

const tooSlow = () => new Error('Redis is too slow')

/**
 * Calls `late` once so many milliseconds have passed since `sinceMs`; returns what cancels it, which is false if it came too late. A
 * process that was busy meanwhile first reads what its sockets hold.
 */
function deadline(sinceMs: number, patience: number, late: () => void): () => boolean {
  let isPending = true
  const callLate = () => {
    if (!isPending) return
    isPending = false
    late()
  }
  const arm = (dueMs: number) =>
    setTimeout(
      () => {
        const nowMs = performance.now()
        if (nowMs - dueMs > busyMs) timer = arm(nowMs + busyMs)
        // After the sockets of this turn of the event loop.
        else setImmediate(callLate)
      },
      Math.max(0, dueMs - performance.now()),
    )
  let timer = arm(sinceMs + patience)
  return () => {
    clearTimeout(timer)
    const wasPending = isPending
    isPending = false
    return wasPending
  }
}
