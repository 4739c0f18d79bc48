import type { Logger } from './logger.ts'
import { timeout } from './timeout.ts'

type Release = () => Promise<unknown> | unknown

/** A stack of releases: whoever opens a resource registers its release; they run in reverse order. */
export type Lifecycle = {
  /** `timeoutMs`: limits how long the later releases wait for this one, if it may hang. */
  onRelease(name: string, release: Release, timeoutMs?: number): void
  release(): Promise<void>
  /** Aborted when the release begins. */
  stopping: AbortSignal
}

export function openLifecycle(logger: Logger): Lifecycle {
  const releasers: { name: string; release: Release; timeoutMs: number | undefined }[] = []
  const stopping = new AbortController()
  return {
    stopping: stopping.signal,
    onRelease: (name, release, timeoutMs) => releasers.push({ name, release, timeoutMs }),
    async release() {
      stopping.abort()
      for (let last = releasers.pop(); last !== undefined; last = releasers.pop()) {
        try {
          const released = Promise.resolve(last.release())
          await (last.timeoutMs === undefined ? released : timeout(last.timeoutMs, released))
        } catch (error) {
          logger.warn({ err: error, part: last.name }, 'closing failed')
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
 * releases everything within 10 s (docs/operations.md, Health), the second exits at once. `crash` is for errors that
 * must never be ignored: it logs, releases everything and exits with 1.
 */
export async function runService(
  logger: Logger,
  start: (lifecycle: Lifecycle, crash: (error: unknown) => void) => Promise<void>,
): Promise<void> {
  const lifecycle = openLifecycle(logger)
  let ending = false
  const end = async (code: number) => {
    if (ending) return
    ending = true
    setTimeout(() => process.exit(code === 0 ? 1 : code), deadlineMs).unref()
    await lifecycle.release()
    process.exit(code)
  }
  const crash = (error: unknown) => {
    logger.fatal({ err: error }, 'stopping after an error that cannot be passed over')
    void end(1)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    if (ending) process.exit(1)
    logger.info({ signal }, 'stopping')
    void end(0)
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
