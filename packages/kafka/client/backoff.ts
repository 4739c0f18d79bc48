import { setTimeout as sleep } from 'node:timers/promises'
import { isUnreachable, type Logger, oncePerMinute, reasonOf } from '@tally/platform'

const firstMs = 100
const longestMs = 5_000

/** The wait after the nth failure in a row (n from 1): 100 ms, doubling up to 5 s, minus up to 20 % at random. */
export function backoffMs(failures: number): number {
  const full = Math.min(firstMs * 2 ** Math.min(failures - 1, 10), longestMs)
  return full * (1 - Math.random() * 0.2)
}

/** Sleeps, but no longer than until `signal` is aborted. Never throws. */
export async function sleepUntil(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}

/** Waits until a promise settles, `timeoutMs` at most; rejects as the promise. Aborting a `sleep` makes an error. */
export async function settled(promise: Promise<unknown>, timeoutMs: number): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, timeoutMs)
  try {
    await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Returns a function that logs an error that is tried again: with its stack at debug level and, once a minute for each
 * reason, as a warning. Not the first of `failures` in a row, such as a coordinator that is still loading; and not that
 * a part does not answer, which the caller's process reports.
 */
export function createUnexpected(
  logger: Logger,
  sentence: string,
): (error: unknown, failures: number) => void {
  const warnings = oncePerMinute<string>((reason, count) => logger.warn({ reason, count }, sentence))
  return (error, failures) => {
    logger.debug({ err: error }, sentence)
    if (failures > 1 && !isUnreachable(error)) warnings.note(reasonOf(error), 1, '')
  }
}
