import type { Server } from 'node:http'
import type { Socket } from 'node:net'

const mebi = 2 ** 20

/**
 * The bytes of answers that clients of one server have not taken yet (docs/security.md, Limits on answers). The largest
 * page of orders has about 5 MiB.
 */
const mostUnread = { server: 48 * mebi, owner: 16 * mebi }
/**
 * A connection that has taken no byte for this time is closed. The system takes bytes in portions of a third of its
 * buffer, 1.3 MB: a client that reads 20 kB/s needs a minute for one.
 */
const stalledMs = 120_000
const sweepEveryMs = 1_000
/** Less than this fits into the buffer that each connection may have, and needs no reservation. */
export const leastReserved = 16 * 1_024
/** What a stream keeps of an answer that is not read: two buffers of 64 KiB, and a page of what it reads. */
const ofStream = 256 * 1_024

/** Where to reserve room for an answer. */
export type Unread = Pick<UnreadAnswers, 'reserve'>

/**
 * Bounds the unread bytes of a server. They are counted once a second, and what is reserved is added until then.
 * `onClose` is called with how many connections were closed for them.
 */
export class UnreadAnswers {
  private readonly connections = new Map<Socket, Connection>()
  private readonly ofOwners = new Map<string, number>()
  private total = 0
  private readonly onClose: (connections: number) => void

  constructor(server: Server, onClose: (connections: number) => void = () => {}) {
    this.onClose = onClose
    server.on('connection', (socket: Socket) => {
      this.connections.set(socket, new Connection(socket))
      socket.once('close', () => this.connections.delete(socket))
    })
    server.on('listening', () => {
      const timer = setInterval(() => this.enforce(), sweepEveryMs).unref()
      server.once('close', () => clearInterval(timer))
    })
  }

  /**
   * Reserves room for an answer on a connection; call it right before the answer is sent. False if its owner (an
   * organization) leaves too much unread. If all together do, the connections that have taken nothing for the longest
   * time are closed.
   */
  reserve(socket: Socket, bytes: number, owner?: string): boolean {
    if (bytes < leastReserved) return true
    const connection = this.connections.get(socket)
    if (connection === undefined) return true
    if (this.isOver(bytes, owner) || this.total + bytes > mostUnread.server) this.enforce(bytes)
    if (this.isOver(bytes, owner)) return false
    connection.owner = owner
    this.add(bytes, owner)
    return true
  }

  private isOver(bytes: number, owner: string | undefined): boolean {
    return owner !== undefined && (this.ofOwners.get(owner) ?? 0) + bytes > mostUnread.owner
  }

  /** Closes stalled connections, and more if there is no room for these bytes. */
  private enforce(bytes = 0): void {
    this.sweep(performance.now())
    if (this.total + bytes > mostUnread.server) this.shed()
  }

  /** Counts the unread bytes, and closes stalled connections. */
  private sweep(nowMs: number): void {
    this.total = 0
    this.ofOwners.clear()
    let stalled = 0
    for (const connection of this.connections.values()) {
      const bytes = connection.look(nowMs)
      if (connection.isStalled(nowMs)) {
        this.close(connection)
        stalled += 1
      } else if (bytes > 0) this.add(bytes, connection.owner)
    }
    if (stalled > 0) this.onClose(stalled)
  }

  /** Closes connections until a quarter of the bound is free: each look costs 0.1 µs per connection. */
  private shed(): void {
    const oldest = [...this.connections.values()]
      .filter(({ socket }) => socket.writableLength > 0)
      .toSorted((one, other) => one.takenAtMs - other.takenAtMs)
    let closed = 0
    for (const connection of oldest) {
      if (this.total <= (mostUnread.server * 3) / 4) break
      this.add(-connection.socket.writableLength, connection.owner)
      this.close(connection)
      closed += 1
    }
    if (closed > 0) this.onClose(closed)
  }

  private add(bytes: number, owner: string | undefined): void {
    this.total += bytes
    if (owner !== undefined) this.ofOwners.set(owner, (this.ofOwners.get(owner) ?? 0) + bytes)
  }

  private close({ socket }: Connection): void {
    this.connections.delete(socket)
    socket.destroy()
  }
}

/** A connection, and how far its client has read. */
class Connection {
  readonly socket: Socket
  /** Whose answer was sent last. */
  owner: string | undefined
  /** Bytes that the system had taken at the last look; undefined if nothing was unread then. */
  private taken: number | undefined
  /** Since when. */
  takenAtMs = 0

  constructor(socket: Socket) {
    this.socket = socket
  }

  /** Notes what the system has taken since the last look; returns the unread bytes. */
  look(nowMs: number): number {
    const { writableLength } = this.socket
    const taken = writableLength === 0 ? undefined : takenOf(this.socket)
    if (this.taken !== taken) this.takenAtMs = nowMs
    this.taken = taken
    return writableLength
  }

  /** Whether it had unread bytes at the last look, and has taken none for too long. */
  isStalled(nowMs: number): boolean {
    return this.taken !== undefined && nowMs - this.takenAtMs >= stalledMs
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
