import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A port of 127.0.0.1 in front of a server: a test can lose the server there while others keep it. */
export type Relay = {
  port: number
  /** The same address, with the relay's port at 127.0.0.1, or at another name of this machine. */
  through: (url: string, hostname?: string) => string
  /** Breaks all connections and refuses new ones. */
  cut: () => Promise<void>
  /** Accepts connections and bytes and forwards nothing, like a server that hangs. */
  stall: () => void
  /** Delays every chunk by `ms`, in both directions. */
  slow: (ms: number) => void
  /** Ends all of these: forwards the bytes that were held back, and accepts connections again. */
  mend: () => Promise<void>
  close: () => Promise<void>
}

type Change = (bytes: Buffer, relayPort: number) => Buffer
/** What replaces each chunk of bytes on its way to the server, and back. */
export type Changes = { toServer?: Change; toClient?: Change }

const unchanged: Change = bytes => bytes

const usualPorts: Record<string, number> = { 'postgres:': 5432, 'redis:': 6379 }

/** Of several addresses, the first one. */
const firstOf = (url: string): URL => new URL(url.split(',')[0] ?? '')

function addressOf(url: string): { host: string; port: number } {
  const { protocol, hostname, port } = firstOf(url)
  return { host: hostname, port: Number(port || usualPorts[protocol]) }
}

/** Opens a relay to a server, which may be given as a URL. */
export async function openRelay(
  server: string | { host: string; port: number },
  { toServer = unchanged, toClient = unchanged }: Changes = {},
): Promise<Relay> {
  const target = typeof server === 'string' ? addressOf(server) : server
  const sockets = new Set<Socket>()
  let isStalled = false
  let delayMs = 0
  let port = 0

  const forward = (from: Socket, to: Socket, change: Change) => {
    // A chunk never overtakes an earlier one, not even if the delay becomes shorter or a timer is late.
    const waiting: { dueMs: number; bytes: Buffer }[] = []
    const send = (): void => {
      for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
        const leftMs = next.dueMs - performance.now()
        if (leftMs > 0) return void setTimeout(send, leftMs)
        waiting.shift()
        if (!to.destroyed) to.write(next.bytes)
      }
    }
    from.on('data', bytes => {
      waiting.push({ dueMs: performance.now() + delayMs, bytes: change(bytes as Buffer, port) })
      if (waiting.length === 1) send()
    })
    from
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    sockets.add(from)
    if (isStalled) from.pause()
  }
  const gate = createServer({ noDelay: true }, near => {
    const far = connect({ ...target, noDelay: true })
    forward(near, far, toServer)
    forward(far, near, toClient)
  })
  const listen = async () => {
    gate.listen(port, '127.0.0.1')
    await once(gate, 'listening')
    port = (gate.address() as { port: number }).port
  }
  const cut = async () => {
    const closed = gate.listening ? once(gate, 'close') : undefined
    gate.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  await listen()
  return {
    port,
    cut,
    through: (url, hostname = '127.0.0.1') =>
      Object.assign(firstOf(url), { hostname, port: String(port) }).href,
    stall() {
      isStalled = true
      for (const socket of sockets) socket.pause()
    },
    slow(ms) {
      delayMs = ms
    },
    async mend() {
      isStalled = false
      delayMs = 0
      for (const socket of sockets) socket.resume()
      if (!gate.listening) await listen()
    },
    close: cut,
  }
}
