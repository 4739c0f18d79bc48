import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import type { LinkCommand, LinkOptions } from './link.ts'

// The thread of one link (link.ts).

const local = '127.0.0.1'

async function openLink({
  port,
  target,
  renames,
}: LinkOptions): Promise<Record<LinkCommand['do'], (ms: number) => unknown>> {
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

const link = await openLink(workerData as LinkOptions)
parentPort?.postMessage('done')
parentPort?.on('message', async (command: LinkCommand) => {
  await link[command.do](command.ms ?? 0)
  parentPort?.postMessage('done')
})
