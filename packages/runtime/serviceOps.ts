import type { ServiceDeps } from './lifecycle.ts'
import { type Metrics, openMetrics, type ProcessName } from './metrics.ts'
import { openOps, type Readiness } from './ops.ts'
import type { Settings } from './settings.ts'
import { openStartup, type Startup } from './startup.ts'

export type ServiceOps = {
  registry: Metrics
  startup: Startup
  /**
   * Logs that the service has started, with these fields; from now on `readiness` answers `/readyz`, until the process
   * is stopping.
   */
  started(readiness: Readiness, fields?: Record<string, unknown>): void
}

/**
 * Opens the operations port of a service first of all, so that `/readyz` says what the service waits for while it
 * starts.
 */
export async function openServiceOps(
  name: ProcessName,
  ops: Settings['ops'],
  defaultPort: number,
  { lifecycle, logger }: Pick<ServiceDeps, 'lifecycle' | 'logger'>,
): Promise<ServiceOps> {
  const registry = openMetrics(name)
  const startup = openStartup(lifecycle, logger)
  let readiness: Readiness = () => startup.missing() ?? 'starting'
  const address = await openOps(
    lifecycle,
    { ...ops, port: ops.port ?? defaultPort },
    { metrics: registry, readiness: () => (lifecycle.stopping.aborted ? 'stopping' : readiness()) },
  )
  logger.info({ ops: address }, `${name} starting`)
  return {
    registry,
    startup,
    started(check, fields = {}) {
      readiness = check
      logger.info({ ...fields, ops: address }, `${name} started`)
    },
  }
}
