import type { Server } from 'node:http'
import type { Socket } from 'node:net'

const mebi = 2 ** 20

/**
 * The bytes of answers that clients of one server have not taken yet (docs/security.md, Limits on answers). The largest
 * answer has 5 MiB.
 */
const mostUnread = { server: 48 * mebi, owner: 16 * mebi }
/** A connection that has taken no byte for this time is closed. */
const stalledMs = 10_000
const sweepEveryMs = 1_000
/** Less than this fits into the buffer that each connection may have, and is not asked for. */
const small = 16 * 1_024
/** What a stream keeps of an answer that is not read: two buffers of 64 KiB. */
const ofStream = 128 * 1_024

export type Unread = {
  /**
   * Whether there is room for an answer on a connection; call it right before the answer is sent. False if its owner
   * (an organization) leaves too much unread. If all together do, the connections whose answers have waited longest
   * are closed.
   */
  hasRoom(socket: Socket, bytes: number, owner?: string): boolean
}

type Waiting = {
  owner: string | undefined
  /** Bytes that the system had taken when it was last looked at, and since when it has not taken more. */
  taken: number
  takenAtMs: number
  /** Since when it has had unread bytes; undefined if it has none. */
  sinceMs: number | undefined
}

/** Bounds the unread bytes of a server. `onClose` is called with how many connections were closed for them. */
export function boundUnread(server: Server, onClose: (connections: number) => void = () => {}): Unread {
  const connections = new Map<Socket, Waiting>()
  const ofOwners = new Map<string, number>()
  /** As of the last sweep, with everything that was sent since. */
  let total = 0

  const add = (bytes: number, owner: string | undefined): void => {
    total += bytes
    if (owner !== undefined) ofOwners.set(owner, (ofOwners.get(owner) ?? 0) + bytes)
  }
  const close = (socket: Socket): void => {
    connections.delete(socket)
    socket.destroy()
  }
  const sweep = (nowMs: number): void => {
    total = 0
    ofOwners.clear()
    let stalled = 0
    for (const [socket, waiting] of connections) {
      const bytes = socket.writableLength
      const taken = bytes === 0 ? 0 : takenOf(socket)
      if (bytes === 0) waiting.sinceMs = undefined
      else if (waiting.sinceMs === undefined || waiting.taken !== taken) {
        waiting.sinceMs ??= nowMs
        waiting.takenAtMs = nowMs
        waiting.taken = taken
      } else if (nowMs - waiting.takenAtMs >= stalledMs) {
        close(socket)
        stalled += 1
        continue
      }
      if (bytes > 0) add(bytes, waiting.owner)
    }
    if (stalled > 0) onClose(stalled)
  }
  /** Closes connections until a quarter of the bound is free: each look costs 0.1 µs per connection. */
  const shed = (): void => {
    const oldest = [...connections]
      .filter(([socket, { sinceMs }]) => sinceMs !== undefined && socket.writableLength > 0)
      .toSorted(([, one], [, other]) => (one.sinceMs ?? 0) - (other.sinceMs ?? 0))
    let closed = 0
    for (const [socket, { owner }] of oldest) {
      if (total <= (mostUnread.server * 3) / 4) break
      add(-socket.writableLength, owner)
      close(socket)
      closed += 1
    }
    if (closed > 0) onClose(closed)
  }
  const look = (bytes = 0): void => {
    sweep(performance.now())
    if (total + bytes > mostUnread.server) shed()
  }

  server.on('connection', (socket: Socket) => {
    connections.set(socket, { owner: undefined, taken: 0, takenAtMs: 0, sinceMs: undefined })
    socket.once('close', () => connections.delete(socket))
  })
  server.on('listening', () => {
    const timer = setInterval(() => look(), sweepEveryMs).unref()
    server.once('close', () => clearInterval(timer))
  })
  return {
    hasRoom(socket, bytes, owner) {
      if (bytes < small) return true
      const waiting = connections.get(socket)
      if (waiting === undefined) return true
      const isOver = () => owner !== undefined && (ofOwners.get(owner) ?? 0) + bytes > mostUnread.owner
      if (isOver() || total + bytes > mostUnread.server) look(bytes)
      if (isOver()) return false
      waiting.owner = owner
      add(bytes, owner)
      return true
    },
  }
}

/** The bytes of a connection that the system has taken: an answer is one write, and only its end would be seen. */
function takenOf(socket: Socket): number {
  const { _handle } = socket as Socket & { _handle?: { bytesWritten: number; writeQueueSize: number } | null }
  return _handle ? _handle.bytesWritten - _handle.writeQueueSize : 0
}

/** The size of what fastify is about to send. */
export function sizeOf(payload: unknown): number {
  if (typeof payload === 'string' || payload instanceof Uint8Array) return payload.length
  return payload === undefined || payload === null ? 0 : ofStream
}
