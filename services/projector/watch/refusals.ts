import { isRefusedWrite, type Logger } from '@tally/runtime'
import type { ProjectorMetrics } from '../metrics.ts'

const sentence =
  'Redis refuses writes, so Postgres answers: free memory or raise maxmemory (INFO memory), or check its disk and replicas (INFO)'

/** Tracks whether Redis refuses writes, and reports it while it does (docs/reliability.md, Redis). */
export type Refusals = {
  /** Call it with the error of a write, or with undefined if Redis accepted it. */
  note(error: unknown): void
  /** Why this process is not ready, or undefined. */
  notReady(): string | undefined
}

export function openRefusals({
  metrics,
  logger,
}: {
  metrics: Pick<ProjectorMetrics, 'redisRefusesWrites'>
  logger: Logger
}): Refusals {
  let isRefused = false
  return {
    note(error) {
      const refuses = isRefusedWrite(error)
      // Other errors do not tell whether Redis accepts writes.
      if (refuses === isRefused || (error !== undefined && !refuses)) return
      isRefused = refuses
      metrics.redisRefusesWrites.set(refuses ? 1 : 0)
      if (refuses) logger.error({ err: error }, sentence)
      else logger.info('Redis accepts writes again')
    },
    notReady: () => (isRefused ? sentence : undefined),
  }
}
