import { setTimeout as sleep } from 'node:timers/promises'
import { isTransient, reasonOf } from './errors.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Logger } from './logger.ts'

const retryMs = 500
/** Kafka's client retries for many seconds before it fails; after this time the part counts as not answering. */
const slowMs = 3_000
/** A part that has just started may not know everything yet: a broker at first knows no topics. */
const settlingMs = 10_000

export type Startup = {
  /**
   * Repeats `check` until it succeeds. Rejects with an error that waiting does not resolve; from a part that has just
   * started, only if it still fails 10 s later. Never settles once the process is stopping.
   */
  until<Result>(part: string, check: () => Promise<Result>): Promise<Result>
  /** Resolves as soon as one part does not answer. */
  waits: Promise<void>
  /** The sentence for /readyz while waiting. */
  missing(): string | undefined
}

/**
 * Waits for the parts that a process needs (docs/reliability.md, When a part is down).
 * Logs each reason to wait for a part once (a part that starts may refuse connections at first, then a password), and
 * when the part answers.
 */
export function openStartup({ stopping }: Lifecycle, logger: Logger): Startup {
  const waitingFor = new Map<string, string>()
  const logged = new Set<string>()
  const { promise: waits, resolve: onWait } = Promise.withResolvers<void>()

  const note = (part: string, error: unknown, isNews: boolean): void => {
    if (isNews) logger.warn({ err: error, part }, `${part} does not answer; waiting for it`)
    waitingFor.set(part, reasonOf(error))
    onWait()
  }
  /** What is slow as well as down is logged as down. */
  const noteSlow = (part: string): void =>
    note(part, new Error(`no answer in ${slowMs / 1_000} s`), !waitingFor.has(part))
  const noteDown = (part: string, error: unknown): void => {
    const reason = `${part} ${reasonOf(error)}`
    note(part, error, !logged.has(reason))
    logged.add(reason)
  }

  const attempt = async <Result>(part: string, check: () => Promise<Result>): Promise<Result> => {
    const late = setTimeout(() => noteSlow(part), slowMs)
    try {
      return await check()
    } finally {
      clearTimeout(late)
    }
  }

  return {
    waits,
    missing: () =>
      waitingFor.size === 0
        ? undefined
        : `waiting for ${[...waitingFor].map(([part, reason]) => `${part} (${reason})`).join(' and ')}`,
    async until(part, check) {
      let settledBy: number | undefined
      for (;;) {
        try {
          const result = await attempt(part, check)
          if (waitingFor.delete(part)) logger.info({ part }, `${part} answers`)
          return result
        } catch (error) {
          if (stopping.aborted) return new Promise(() => {})
          if (!isTransient(error)) {
            if (!waitingFor.has(part)) throw error
            settledBy ??= performance.now() + settlingMs
            if (performance.now() > settledBy) throw error
          }
          noteDown(part, error)
          await sleep(retryMs, undefined, { signal: stopping }).catch(() => undefined)
        }
      }
    },
  }
}
