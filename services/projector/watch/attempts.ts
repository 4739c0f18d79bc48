import { isRefusedWrite, isTransient, type Logger, partOf, reasonOf } from '@tally/platform'
import type { ProjectorMetrics } from '../metrics.ts'

type Step =
  | 'read'
  | 'open epoch'
  | 'insert rows'
  | 'note ends'
  | 'raise asOf'
  | 'raise others'
  | 'update Redis'
  | 'drain'
  | 'measure'

/** What a step that fails holds up: what is pending or in the backlog holds `asOf` back in Redis, too. */
const effectOf = (step: Step): string =>
  step === 'measure' ? 'the metrics of what organizations take are not renewed' : 'asOf may stand still'

/** Runs a step of the watch and returns whether it succeeded. A failure is counted and logged, never thrown. */
export type Attempt = (step: Step, work: () => Promise<void>) => Promise<boolean>

/**
 * A transient error is logged at debug level. Any other is logged as an error, and again only after its step has
 * succeeded or has failed with a different one: a step that always fails would fill the log with 2.5 lines per second.
 */
export function createAttempts({
  metrics,
  logger,
}: {
  metrics: Pick<ProjectorMetrics, 'failures'>
  logger: Logger
}): Attempt {
  const logged = new Map<Step, string>()

  const logBug = (step: Step, error: unknown): void => {
    const reason = reasonOf(error)
    if (logged.get(step) === reason) return
    logged.set(step, reason)
    logger.error(
      { err: error, step },
      `a step of the watch fails, and waiting does not resolve it: ${effectOf(step)}; trying again`,
    )
  }

  return async (step, work) => {
    try {
      await work()
      logged.delete(step)
      return true
    } catch (error) {
      const part = partOf(error)
      metrics.failures.inc({ part })
      if (isTransient(error)) logger.debug({ err: error, part }, 'a part does not answer; trying again')
      else logBug(step, error)
      return false
    }
  }
}

const refusesWrites =
  'Redis refuses writes, so Postgres answers: free memory or raise maxmemory (INFO memory), or check its disk and replicas (INFO)'

/** Tracks whether Redis refuses writes, and reports it while it does (docs/reliability.md, Redis). */
export type Refusals = {
  /** Runs work that writes to Redis, and notes whether Redis refused it; its error is thrown as it is. */
  during(writes: () => Promise<void>): Promise<void>
  /** Why this process is not ready, or undefined. */
  notReady(): string | undefined
}

export function createRefusals({
  metrics,
  logger,
}: {
  metrics: Pick<ProjectorMetrics, 'redisRefusesWrites'>
  logger: Logger
}): Refusals {
  let isRefused = false

  const note = (refuses: boolean, error?: unknown): void => {
    if (refuses === isRefused) return
    isRefused = refuses
    metrics.redisRefusesWrites.set(refuses ? 1 : 0)
    if (refuses) logger.error({ err: error }, refusesWrites)
    else logger.info('Redis accepts writes again')
  }

  return {
    async during(writes) {
      try {
        await writes()
        note(false)
      } catch (error) {
        // Other errors do not tell whether Redis accepts writes.
        if (isRefusedWrite(error)) note(true, error)
        throw error
      }
    },
    notReady: () => (isRefused ? refusesWrites : undefined),
  }
}
