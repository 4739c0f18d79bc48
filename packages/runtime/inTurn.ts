import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { takeOverFrom } from './takeOver.ts'

/** In a body, bytes go on in pieces of at least this size: a body of blank lines would be thousands of pieces. */
const leastOfBody = 1_024
const endOfHead = '\r\n\r\n'

/**
 * Gives Node's HTTP one request of a connection at a time, and the next one once the client has taken the answer. Node
 * parses what has arrived in one piece: 64 KiB are up to 3,600 requests, which held everybody else up for 0.15 s, and
 * took 8 MB of memory while their answers were unread. Call it before the server has its first connection.
 */
export function serveInTurn(server: Server): void {
  const turns = new WeakMap<Socket, Turns>()
  server.on('connection', (socket: Socket) => turns.set(socket, takeTurns(socket)))
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
    turns.get(request.socket)?.begin(request, response),
  )
  server.prependListener('clientError', (_error, socket) => turns.get(socket as Socket)?.fail())
}

type Turns = {
  begin(request: IncomingMessage, response: ServerResponse): void
  /** What follows invalid bytes belongs to no request. */
  fail(): void
}

function takeTurns(socket: Socket): Turns {
  const [toNode, endToNode] = [takeOverFrom(socket, 'data'), takeOverFrom(socket, 'end')]
  /** The last request that Node has read, and its answer. */
  let current: { request: IncomingMessage; response: ServerResponse } | undefined
  /** What Node has not read yet; the connection is paused meanwhile. */
  let held: Buffer | undefined
  let hasFailed = false

  const isReading = (): boolean => current !== undefined && !current.request.complete
  const mustWait = (): boolean =>
    !hasFailed && current?.request.complete === true && !current.response.writableFinished
  // Not at once: all the requests of a piece would be answered before anybody else's.
  const goOnLater = () => current?.response.once('close', () => setImmediate(goOn))
  const goOn = (): void => {
    let bytes = held ?? Buffer.alloc(0)
    while (bytes.length > 0 && !socket.destroyed) {
      if (mustWait()) {
        held = bytes
        goOnLater()
        return
      }
      const end = hasFailed ? -1 : bytes.indexOf(endOfHead, isReading() ? leastOfBody : 0)
      const first = end < 0 ? bytes : bytes.subarray(0, end + endOfHead.length)
      bytes = bytes.subarray(first.length)
      if (bytes.length === 0) {
        held = undefined
        // Before the last piece: if that is refused, the connection is paused for good.
        socket.resume()
      }
      toNode(first)
    }
    if (socket.readableEnded) endToNode()
  }
  // Node's HTTP resumes the connection after each request: a client that never stops sending would fill the memory.
  const { resume } = socket
  socket.resume = () => (held === undefined ? resume.call(socket) : socket)
  socket.on('data', (bytes: Buffer) => {
    const isFirst = held === undefined
    const mayGoOn = isFirst && !mustWait()
    if (hasFailed || (mayGoOn && isOneRequest(bytes))) return toNode(bytes)
    held = held === undefined ? bytes : Buffer.concat([held, bytes])
    socket.pause()
    if (mayGoOn) goOn()
    else if (isFirst) goOnLater()
  })
  socket.on('end', () => {
    if (held === undefined) endToNode()
  })
  return {
    begin(request, response) {
      current = { request, response }
    },
    fail() {
      hasFailed = true
    },
  }
}

/** Whether no second request can begin in these bytes. */
function isOneRequest(bytes: Buffer): boolean {
  const end = bytes.indexOf(endOfHead)
  return end < 0 || end + endOfHead.length === bytes.length
}
