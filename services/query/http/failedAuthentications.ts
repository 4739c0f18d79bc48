import { setTimeout as after } from 'node:timers/promises'

/** Wrong tokens a second that are told so at once; from a few devices with an old key more never come. */
const atOnce = 50
const pauseMs = 250
const windowMs = 1_000

/**
 * Slows a flood of wrong tokens: while more than 50 come in a second each further 401 waits 250 ms, so that who
 * sends them spends the time of its own connections and not that of the clients with a key.
 */
export function openWrongTokens() {
  let endsAtMs = 0
  let count = 0
  /** Resolves when a wrong token may be told so; undefined: now. */
  return (): Promise<void> | undefined => {
    const now = performance.now()
    if (now >= endsAtMs) {
      endsAtMs = now + windowMs
      count = 0
    }
    count += 1
    return count <= atOnce ? undefined : after(pauseMs)
  }
}
