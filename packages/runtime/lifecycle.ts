import type { Logger } from './logger.ts'
import { timeout } from './timeout.ts'

type Release = () => Promise<unknown> | unknown

/** A stack of releasers: who opens pushes the closing; released in reverse. */
export type Lifecycle = {
  /** `withinMs`: how long the parts that are released after it wait for it at most, if it may hang. */
  onRelease(name: string, release: Release, withinMs?: number): void
  release(): Promise<void>
  /** Aborted when the release begins. */
  stopping: AbortSignal
}

export function openLifecycle(logger: Logger): Lifecycle {
  const releasers: { name: string; release: Release; withinMs: number | undefined }[] = []
  const stopping = new AbortController()
  return {
    stopping: stopping.signal,
    onRelease: (name, release, withinMs) => releasers.push({ name, release, withinMs }),
    async release() {
      stopping.abort()
      for (let last = releasers.pop(); last !== undefined; last = releasers.pop()) {
        try {
          const released = Promise.resolve(last.release())
          await (last.withinMs === undefined ? released : timeout(last.withinMs, released))
        } catch (error) {
          logger.warn({ err: error, part: last.name }, 'closing failed')
        }
      }
    },
  }
}

/** What a service is started with; `crash` is for what must never be passed over. */
export type ServiceDeps = { lifecycle: Lifecycle; logger: Logger; crash: (error: unknown) => void }

const deadlineMs = 9_500

/**
 * Runs a service until a signal: `start` opens its parts and pushes their closings. The first SIGTERM or SIGINT
 * releases everything within 10 s (commands.md), the second quits at once. `crash`, handed to `start`, is for
 * what must never be passed over: it logs, releases and exits 1.
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
