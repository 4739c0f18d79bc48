import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export type Sniffer = {
  /** The address of the database through the sniffer. */
  url: string
  /** How many statements with this text were sent to Postgres. */
  count: (text: string) => number
  /** Delays every piece, in both directions. */
  slow: (ms: number) => void
  close: () => Promise<void>
}

/** A port in front of Postgres that counts the statements that pass. */
export async function openSniffer(databaseUrl: string): Promise<Sniffer> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let sent = ''
  let delayMs = 0
  const pass = (from: Socket, to: Socket, seen: (bytes: Buffer) => void) => {
    sockets.add(from)
    from.setNoDelay(true)
    from.on('error', () => {}).on('close', () => to.destroy())
    from.on('data', (bytes: Buffer) => {
      seen(bytes)
      if (delayMs === 0) to.write(bytes)
      else setTimeout(() => to.destroyed || to.write(bytes), delayMs)
    })
  }
  const server = createServer(near => {
    const far = connect(Number(target.port || 5432), target.hostname)
    pass(near, far, bytes => {
      sent += bytes.toString('latin1')
    })
    pass(far, near, () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${(server.address() as { port: number }).port}`
  return {
    url: url.href,
    count: text => sent.split(text).length - 1,
    slow(ms) {
      delayMs = ms
    },
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
