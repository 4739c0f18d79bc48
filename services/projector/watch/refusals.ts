import { isRefusedWrite, type Logger } from '@tally/platform'
import type { ProjectorMetrics } from '../metrics.ts'

const sentence =
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
    if (refuses) logger.error({ err: error }, sentence)
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
    notReady: () => (isRefused ? sentence : undefined),
  }
}
