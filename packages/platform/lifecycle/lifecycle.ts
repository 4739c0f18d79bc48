import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../log/logger.ts'
import { timeout } from '../timing.ts'
import { isTransient } from './errors.ts'
import type { Outages, PartName } from './outages.ts'

type Release = () => Promise<unknown> | unknown

/** A stack of releases: whoever opens a resource registers its release; they run in reverse order. */
export type Lifecycle = {
  /** `timeoutMs`: limits how long the later releases wait for this one, if it may hang. */
  onRelease(name: string, release: Release, timeoutMs?: number): void
  /** `drain` runs before the releases if SIGTERM ends the process, which works as before meanwhile. */
  onDrain(drain: () => Promise<void>): void
  /** `drains`: whether what `onDrain` registered runs first. */
  release(options?: { drains?: boolean }): Promise<void>
  /** Aborted when the drain or the release begins. */
  stopping: AbortSignal
}

export function createLifecycle(logger: Logger): Lifecycle {
  const releasers: { name: string; release: Release; timeoutMs: number | undefined }[] = []
  const drains: (() => Promise<void>)[] = []
  const stopping = new AbortController()
  return {
    stopping: stopping.signal,
    onRelease: (name, release, timeoutMs) => releasers.push({ name, release, timeoutMs }),
    onDrain: drain => drains.push(drain),
    async release(options = {}) {
      stopping.abort()
      if (options.drains) await Promise.all(drains.map(drain => drain()))
      for (let last = releasers.pop(); last !== undefined; last = releasers.pop()) {
        try {
          const released = Promise.resolve(last.release())
          await (last.timeoutMs === undefined ? released : timeout(last.timeoutMs, released))
        } catch (error) {
          // A release has a time limit because it may hang on a part that does not answer.
          const isLate = error instanceof Error && error.name === 'TimeoutError'
          if (isLate) logger.info({ part: last.name }, `not closed in ${last.timeoutMs} ms; going on`)
          else logger.warn({ err: error, part: last.name }, 'closing failed')
        }
      }
    },
  }
}

/** What every service gets; `crash` is for errors that must never be ignored. */
export type ServiceDeps = { lifecycle: Lifecycle; logger: Logger; crash: (error: unknown) => void }

const deadlineMs = 9_500

/**
 * Runs a service until a signal: `start` opens its resources and registers their releases. The first SIGTERM or SIGINT
 * releases everything within 10 s (docs/install.md, Installation), the second exits at once. SIGTERM drains first;
 * SIGINT does not, because it comes from a person who waits. `crash` is for errors that must never be ignored: it logs,
 * releases everything and exits with 1.
 */
export async function runService(
  logger: Logger,
  start: (lifecycle: Lifecycle, crash: (error: unknown) => void) => Promise<void>,
): Promise<void> {
  const lifecycle = createLifecycle(logger)
  let ending = false
  const end = async (code: number, { drains = false } = {}) => {
    if (ending) return
    ending = true
    setTimeout(() => process.exit(code === 0 ? 1 : code), deadlineMs).unref()
    await lifecycle.release({ drains })
    process.exit(code)
  }
  const crash = (error: unknown) => {
    logger.fatal({ err: error }, 'stopping after an error that cannot be passed over')
    void end(1)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    if (ending) process.exit(1)
    logger.info({ signal }, 'stopping')
    void end(0, { drains: signal === 'SIGTERM' })
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  process.on('uncaughtException', crash).on('unhandledRejection', crash)
  try {
    await start(lifecycle, crash)
  } catch (error) {
    if (ending) return
    ending = true
    setTimeout(() => process.exit(1), deadlineMs).unref()
    await lifecycle.release()
    throw error
  }
}

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
