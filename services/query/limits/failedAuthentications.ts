import { setTimeout as sleep } from 'node:timers/promises'

/** Failed authentications per second that are answered at once; a few devices with an old key stay below it. */
const atOnce = 50
const delayMs = 250
const windowMs = 1_000

/**
 * Slows down a flood of invalid tokens: after 50 failures in a second, each further 401 waits 250 ms, so that the
 * sender spends the time of its own connections and not that of clients with a valid key.
 */
export function createFailedAuthenticationThrottle() {
  let endsAtMs = 0
  let count = 0
  /** Counts a failure. Resolves when its 401 may be sent; undefined: now. */
  return (): Promise<void> | undefined => {
    const now = performance.now()
    if (now >= endsAtMs) {
      endsAtMs = now + windowMs
      count = 0
    }
    count += 1
    return count <= atOnce ? undefined : sleep(delayMs)
  }
}
