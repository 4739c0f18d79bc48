import type { Logger } from '@tally/runtime'
import type { ProjectorMetrics } from './metrics.ts'

/** How Redis refuses a write while it answers reads: full, disk errors, too few replicas, a replica. */
const refusals = /\b(OOM|MISCONF|NOREPLICAS|READONLY)\b/

const sentence =
  'Redis refuses writes, answers come from Postgres: free memory or raise maxmemory (INFO memory), or see to its disk and replicas (INFO)'

/** Keeps whether Redis refuses writes, and says so loudly while it does (faults.md, Redis). */
export type Refusals = {
  /** Called with the error of an attempt to write, undefined if Redis took it. */
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
      const refuses = error instanceof Error && refusals.test(error.message)
      // Any other error says nothing about it.
      if (refuses === isRefused || (error !== undefined && !refuses)) return
      isRefused = refuses
      metrics.redisRefusesWrites.set(refuses ? 1 : 0)
      if (refuses) logger.error({ err: error }, sentence)
      else logger.info('Redis takes writes again')
    },
    notReady: () => (isRefused ? sentence : undefined),
  }
}
