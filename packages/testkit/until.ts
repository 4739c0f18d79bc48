import { setTimeout as sleep } from 'node:timers/promises'

/** Whether a promise is fulfilled. */
export const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )

/**
 * Waits until a condition holds, checking after 15 ms, and less often the longer it lasts: every 100 ms after 1.7 s, as
 * a check in a browser or of Prometheus takes some milliseconds of the processor. After `timeoutMs` it throws an error
 * that names the condition. The default is not a requirement: it only ends a test that would never end, even on a busy
 * machine.
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 120_000,
): Promise<void> {
  for (const beganMs = performance.now(); !(await holds()); ) {
    const waitedMs = performance.now() - beganMs
    if (waitedMs > timeoutMs) throw new Error(`not within ${timeoutMs / 1000} s: ${what}`)
    await sleep(Math.min(100, 15 + waitedMs / 20))
  }
}
