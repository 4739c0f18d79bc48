import { fastify } from 'fastify'
import { bareRefusals, listen, secure, serverOptions } from '../http/server.ts'
import { createMetrics, type Metrics, type ProcessName } from '../metrics.ts'
import type { Settings } from '../settings/settings.ts'
import { createStartup, type Lifecycle, type ServiceDeps, type Startup } from './lifecycle.ts'
import { createOutages, type Meanwhile, type Outages } from './outages.ts'

type ServiceOps = {
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

/** Undefined if ready, else a sentence that says what is missing. */
export type Readiness = () => string | undefined | Promise<string | undefined>

/** Opens `/livez` (the process runs), `/readyz` (it can do its work) and `/metrics`. Returns the address. */
export async function openOps(
  lifecycle: Lifecycle,
  { host, port, maxConnections }: { host: string; port: number; maxConnections: number },
  { metrics, readiness }: { metrics: Metrics; readiness: Readiness },
): Promise<string> {
  const app = fastify({ ...serverOptions, ...bareRefusals })
  secure(app, { maxConnections })
  app.get('/livez', async () => ({ status: 'live' }))
  app.get('/readyz', async (_, reply) => {
    const missing = await Promise.resolve()
      .then(readiness)
      .catch(() => 'cannot tell')
    return reply
      .code(missing === undefined ? 200 : 503)
      .send(missing === undefined ? { status: 'ready' } : { status: 'not ready', missing })
  })
  app.get('/metrics', async (_, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  )
  lifecycle.onRelease('ops', () => app.close())
  return listen(app, { host, port }, 'OPS')
}
