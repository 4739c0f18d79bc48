import { setTimeout as sleep } from 'node:timers/promises'
import { isTransient } from './errors.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Outages, PartName } from './outages.ts'

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
  until<Result>(part: PartName, check: () => Promise<Result>): Promise<Result>
  /** Resolves as soon as one part does not answer. */
  waits: Promise<void>
}

/** Waits for the parts that a process needs (docs/reliability.md, When a part is down), and tells `outages`. */
export function createStartup({ stopping }: Lifecycle, outages: Outages): Startup {
  const waiting = new Set<PartName>()
  const { promise: waits, resolve: onWait } = Promise.withResolvers<void>()
  const silence = new DOMException(`no answer in ${slowMs / 1_000} s`, 'TimeoutError')

  const note = (part: PartName, error: unknown): void => {
    waiting.add(part)
    outages.failed(part, error)
    onWait()
  }

  const attempt = async <Result>(part: PartName, check: () => Promise<Result>): Promise<Result> => {
    const late = setTimeout(() => note(part, silence), slowMs)
    try {
      return await check()
    } finally {
      clearTimeout(late)
    }
  }

  return {
    waits,
    async until(part, check) {
      let settledBy: number | undefined
      for (;;) {
        try {
          const result = await attempt(part, check)
          waiting.delete(part)
          outages.answered(part)
          return result
        } catch (error) {
          if (stopping.aborted) return new Promise(() => {})
          if (!isTransient(error)) {
            if (!waiting.has(part)) throw error
            settledBy ??= performance.now() + settlingMs
            if (performance.now() > settledBy) throw error
          }
          note(part, error)
          await sleep(retryMs, undefined, { signal: stopping }).catch(() => undefined)
        }
      }
    },
  }
}
