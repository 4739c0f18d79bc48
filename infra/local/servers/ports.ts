import { createServer } from 'node:net'

/**
 * A port of 127.0.0.1 that nothing listens on, between 15,000 and 31,999.
 *
 * Not the one the system would give (`listen(0)`): those lie where outgoing connections take their own port too,
 * so that a server that was killed could not come back on its port, or a client that waits for it could connect
 * to itself.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 17_000)
    if (await isFree(port)) return port
  }
}

/** `wanted` when nothing listens on it on this machine, else a free port. */
export async function preferPort(wanted: number): Promise<number> {
  return (await isFree(wanted)) ? wanted : freePort()
}

/** Whether nothing listens on this port of 127.0.0.1. */
export function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)))
  })
}
