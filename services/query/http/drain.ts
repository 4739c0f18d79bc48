import type { Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** The last part of the drain, in which each answer closes its connection. */
const closingMs = 1_000

/**
 * Lets a query process leave its load balancer before it closes (docs/operations.md, Rolling restarts); `/readyz` is
 * 503 meanwhile. For `drainMs`, requests are answered as before, because the balancer has to notice that first. In the
 * last second of it, each answer closes its connection: a connection that the server closes while it is idle may carry
 * a request that is already on its way, which would fail.
 */
export async function drain(server: Server, drainMs: number, stopDirect: () => Promise<void>): Promise<void> {
  await sleep(Math.max(0, drainMs - closingMs))
  server.prependListener('request', (_request, response: ServerResponse) =>
    response.setHeader('Connection', 'close'),
  )
  // A poll may wait for Postgres: closing waits for it, and no longer than for any other request.
  void stopDirect()
  await sleep(Math.min(drainMs, closingMs))
}
