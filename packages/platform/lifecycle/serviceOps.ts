import { openOps, type Readiness } from '../http/ops.ts'
import { createMetrics, type Metrics, type ProcessName } from '../metrics/metrics.ts'
import type { Settings } from '../settings/settings.ts'
import type { ServiceDeps } from './lifecycle.ts'
import { createOutages, type Meanwhile, type Outages } from './outages.ts'
import { createStartup, type Startup } from './startup.ts'

export type ServiceOps = {
  registry: Metrics
  startup: Startup
  outages: Outages
  /** Logs that the service has started, with these fields; from now on `readiness` answers `/readyz`, until it ends. */
  started(readiness: Readiness, fields?: Record<string, unknown>): void
}

/**
 * Opens the operations port of a service first of all, so that `/readyz` says what the service waits for while it
 * starts. `meanwhile`: what the service does while a part does not answer.
 */
export async function openServiceOps(
  name: ProcessName,
  ops: Settings['ops'],
  { defaultPort, meanwhile }: { defaultPort: number; meanwhile: Meanwhile },
  { lifecycle, logger }: Pick<ServiceDeps, 'lifecycle' | 'logger'>,
): Promise<ServiceOps> {
  const registry = createMetrics(name)
  const outages = createOutages(logger, meanwhile)
  const startup = createStartup(lifecycle, outages)
  let readiness: Readiness = () => outages.missing() ?? 'starting'
  const address = await openOps(
    lifecycle,
    { ...ops, port: ops.port ?? defaultPort },
    { metrics: registry, readiness: () => (lifecycle.stopping.aborted ? 'stopping' : readiness()) },
  )
  logger.info({ ops: address }, `${name} starting`)
  return {
    registry,
    startup,
    outages,
    started(check, fields = {}) {
      readiness = check
      logger.info({ ...fields, ops: address }, `${name} started`)
    },
  }
}
