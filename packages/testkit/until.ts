import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits until a condition holds, checking every 15 ms. After `timeoutMs` it throws an error that names the condition.
 * The default is not a requirement: it only ends a test that would never end, even on a busy machine.
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 120_000,
): Promise<void> {
  for (const end = performance.now() + timeoutMs; !(await holds()); ) {
    if (performance.now() > end) throw new Error(`not within ${timeoutMs / 1000} s: ${what}`)
    await sleep(15)
  }
}
