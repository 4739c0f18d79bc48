import { fastify } from 'fastify'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { bareRefusals, listen, secure, serverOptions } from './server.ts'

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
