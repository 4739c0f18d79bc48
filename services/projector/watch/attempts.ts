import { isTransient, type Logger, partOf, reasonOf } from '@tally/runtime'
import type { ProjectorMetrics } from '../metrics.ts'

/** Runs a step of the watch and returns whether it succeeded. A failure is counted and logged, never thrown. */
export type Attempt = (step: () => Promise<void>) => Promise<boolean>

/** A transient error is logged at debug level. Any other is logged as an error, once for as long as it comes back. */
export function openAttempts({
  metrics,
  logger,
}: {
  metrics: Pick<ProjectorMetrics, 'failures'>
  logger: Logger
}): Attempt {
  let lastBug: string | undefined

  const logBug = (error: unknown): void => {
    const reason = reasonOf(error)
    if (reason === lastBug) return
    lastBug = reason
    logger.error(
      { err: error },
      'a step of the watch fails, and waiting does not resolve it: asOf may stand still; trying again',
    )
  }

  return async step => {
    try {
      await step()
      return true
    } catch (error) {
      const part = partOf(error)
      metrics.failures.inc({ part })
      if (isTransient(error)) logger.debug({ err: error, part }, 'a part does not answer; trying again')
      else logBug(error)
      return false
    }
  }
}
