import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

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

/** `wanted` when nothing listens on it on this machine and no other start has just chosen it, else a free port. */
export async function preferPort(wanted: number): Promise<number> {
  return (await claim(wanted)) && (await isFree(wanted)) ? wanted : freePort()
}

/** Whether a port is this process's from now on: of those that ask, one has its UDP port, which no service uses. */
function claim(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const claimed = createSocket('udp4').unref()
    claimed.once('error', () => resolve(false))
    claimed.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true))
  })
}

/** Waits a little for the port; without this another process on it could answer in place of the one that fails. */
export async function portIsFree(name: string, port: number): Promise<void> {
  for (const until = Date.now() + 2_000; !(await isFree(port)); await sleep(100)) {
    if (Date.now() > until)
      throw new Error(`${name} cannot start: something else listens on 127.0.0.1:${port}`)
  }
}

/** Whether nothing listens on this port of 127.0.0.1. */
function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)))
  })
}
