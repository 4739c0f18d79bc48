import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

const local = '127.0.0.1'

/** A port of 127.0.0.1 in front of a server, through which connections can be cut, stalled or slowed. */
export type Link = {
  port: number
  /** Breaks all connections and refuses new ones. */
  cut: () => void
  /** Takes connections and bytes and passes none on, as a server that hangs. */
  stall: () => void
  /** Passes every piece on later, in both directions. */
  slow: (ms: number) => void
  /** As if nothing had been; bytes that were kept back go on. */
  mend: () => Promise<void>
  close: () => void
}

/**
 * Opens a link on `port` to a server's port. `renames`: a Kafka broker names its own address to its clients; in what
 * comes back from it this host (of as many letters as 127.0.0.1) and the link's port take its place, so that they come
 * back through here.
 */
export async function openLink(
  port: number,
  target: number,
  { renames }: { renames?: string } = {},
): Promise<Link> {
  const sockets = new Set<Socket>()
  let stalled = false
  let delayMs = 0
  const own = renames === undefined ? undefined : addressOf(local, target)

  const pass = (from: Socket, to: Socket, change: (bytes: Buffer) => Buffer) => {
    let due = 0
    from.on('data', bytes => {
      const changed = change(bytes as Buffer)
      const now = performance.now()
      due = Math.max(due, now + delayMs)
      if (due <= now) to.write(changed)
      else setTimeout(() => to.destroyed || to.write(changed), due - now)
    })
    from
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    sockets.add(from)
    if (stalled) from.pause()
  }

  const server = createServer({ noDelay: true }, near => {
    const far = connect({ host: '127.0.0.1', port: target, noDelay: true })
    pass(near, far, bytes => bytes)
    pass(far, near, bytes =>
      own === undefined ? bytes : replaceAll(bytes, own, addressOf(renames ?? local, port)),
    )
  })
  const listen = async () => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const cut = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  await listen()
  return {
    port,
    cut,
    stall() {
      stalled = true
      for (const socket of sockets) socket.pause()
    },
    slow(ms) {
      delayMs = ms
    },
    async mend() {
      stalled = false
      delayMs = 0
      for (const socket of sockets) socket.resume()
      if (!server.listening) await listen()
    },
    close: cut,
  }
}

/** Host and port as every version of Kafka's protocol writes them: the name's bytes, then four bytes of port. */
function addressOf(host: string, port: number): Buffer {
  const number = Buffer.alloc(4)
  number.writeInt32BE(port)
  return Buffer.concat([Buffer.from(host), number])
}

function replaceAll(bytes: Buffer, from: Buffer, to: Buffer): Buffer {
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + to.length)) to.copy(bytes, at)
  return bytes
}
