import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How long a refused connection stays open for its client to close it. */
const lingerMs = 2_000

export type ClientError = Error & { code?: string | undefined }

/** Connections whose input failed: Node's parser fails again with each further chunk. */
const failed = new WeakSet<Socket>()

/**
 * Refuses what never became a request, and closes the connection. Nothing more is read from it: the client keeps the
 * bytes behind the failure, however long it leaves answers unread. `refusal` makes the answer's bytes.
 */
export function refuse(error: ClientError, socket: Socket, refusal: () => string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  if (failed.has(socket)) return
  failed.add(socket)
  socket.pause()
  // When the client ends, Node would treat the answer before as the last one.
  socket.removeAllListeners('end')
  // Node has taken its own listeners off the connection of a CONNECT.
  socket.on('error', () => {}).once('timeout', () => socket.destroy())
  refuseOnceAnswered(socket, refusal)
}

/** A client would take the refusal for the answer to the request before, or for the rest of it: that one goes first. */
function refuseOnceAnswered(socket: Socket, refusal: () => string): void {
  const { _httpMessage: before } = socket as Socket & { _httpMessage?: ServerResponse | null }
  if (before && !waitsForBody(before)) before.once('close', () => refuseOnceAnswered(socket, refusal))
  else if (socket.writable) socket.end(refusal(), () => linger(socket))
  else socket.destroy()
}

/** Whether an answer needs the rest of its request, which is what has failed. */
const waitsForBody = ({ req }: ServerResponse): boolean => !req.complete && req.listenerCount('data') > 0

/**
 * Drops what still comes until the client has closed too, 2 s at most: to close a connection with unread bytes resets
 * it, and answers that are on their way are lost.
 */
function linger(socket: Socket): void {
  socket.removeAllListeners('data').resume()
  setTimeout(() => socket.destroy(), lingerMs).unref()
}
