const FIRST_MS = 100
const LONGEST_MS = 5_000

/** How long to rest after the nth failure in a row (n from 1): 100 ms, doubling up to 5 s, less up to a fifth at random. */
export function backoffMs(failures: number): number {
  const full = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 10), LONGEST_MS)
  return full * (1 - Math.random() * 0.2)
}

/** Rests, but no longer than until `signal` is aborted. Never throws. */
export function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve()
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}
