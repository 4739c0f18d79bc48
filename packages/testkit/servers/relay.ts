import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export type Relay = {
  port: number
  /** Breaks all connections and refuses new ones. */
  cut: () => Promise<void>
  /** Lets bytes come in and passes none on, as a server that hangs. */
  stall: () => void
  /** Passes bytes on again, the kept ones too, and takes new connections. */
  mend: () => Promise<void>
  close: () => Promise<void>
}

/** A port of 127.0.0.1 that stands for a real server, so that one test can lose it while others keep it. */
export async function openRelay(target: { host: string; port: number }): Promise<Relay> {
  const sockets = new Set<Socket>()
  let isStalled = false
  const server = createServer(near => {
    const far = connect(target)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket)
          other.destroy()
        })
      socket.on('data', bytes => void other.write(bytes))
      if (isStalled) socket.pause()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }

  const cut = async () => {
    const closed = server.listening ? once(server, 'close') : undefined
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    port,
    cut,
    stall() {
      isStalled = true
      for (const socket of sockets) socket.pause()
    },
    async mend() {
      isStalled = false
      for (const socket of sockets) socket.resume()
      if (server.listening) return
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    close: cut,
  }
}
