import type { EventEmitter } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** In a body, bytes go on in pieces of at least this size: a body of blank lines would be thousands of pieces. */
const leastOfBody = 1_024
const endOfHead = '\r\n\r\n'
const nothing = Buffer.alloc(0)

/**
 * Gives Node's HTTP one request of a connection at a time, and the next one once the client has taken the answer. Node
 * parses what has arrived in one piece: 64 KiB are up to 3,600 requests, which held everybody else up for 0.15 s, and
 * took 8 MB of memory while their answers were unread. Call it before the server has its first connection.
 */
export function serveOneRequestAtATime(server: Server): void {
  server.on('connection', (socket: Socket) => inputs.set(socket, new Input(socket)))
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
    inputs.get(request.socket)?.begin(response),
  )
  server.prependListener('clientError', (_error, socket) => inputs.get(socket as Socket)?.fail())
}

const inputs = new WeakMap<Socket, Input>()
/** No part of a request behind this is kept. */
export const longestLine = 16_384

/**
 * The beginning of the request that Node is reading, or has just refused: its first line as far as it has come, and
 * maybe more, in however many pieces. Empty between requests.
 */
export const beginningOf = (socket: Socket): string => inputs.get(socket)?.beginning() ?? ''

/**
 * What arrives on a connection, in one of three states:
 *
 * - Open: nothing is held, and what arrives goes to Node at once. If a second request may begin in it, or if the client
 *   has not taken the last answer yet, it is held instead.
 * - Holding: the connection is paused, and Node cannot resume it. Node gets the held bytes head by head: those up to
 *   the end of the next head once the client has taken the answer before it. With the last of them the connection is
 *   open again.
 * - Failed: Node has refused the input, and what follows belongs to no request. All of it goes to Node, which refuses
 *   it again.
 *
 * Node gets the client's end when nothing is held, and not after a failure: it would take the answer before the refusal
 * for the last one.
 */
class Input {
  private readonly socket: Socket
  private readonly toNode: (bytes: Buffer) => void
  private readonly endToNode: () => void
  /** The answer to the last request that Node has read. */
  private current: ServerResponse | undefined
  private held: Buffer = nothing
  private hasFailed = false
  /** The head that Node is reading: what came of it before, and the bytes that Node is getting just now. */
  private before = ''
  private given: Buffer = nothing

  constructor(socket: Socket) {
    this.socket = socket
    this.toNode = takeOverFrom(socket, 'data')
    this.endToNode = takeOverFrom(socket, 'end')
    // Node's HTTP resumes the connection after each request: a client that never stops sending would fill the memory.
    const { resume } = socket
    socket.resume = () => (this.held.length === 0 ? resume.call(socket) : socket)
    socket.on('data', (bytes: Buffer) => this.take(bytes))
    socket.on('end', () => {
      if (this.held.length === 0) this.end()
    })
  }

  begin(response: ServerResponse): void {
    this.current = response
    this.before = ''
    this.given = nothing
  }

  fail(): void {
    this.hasFailed = true
  }

  beginning(): string {
    const from = this.before === '' ? afterBlankLines(this.given) : 0
    return (this.before + this.given.toString('latin1', from, from + longestLine)).slice(0, longestLine)
  }

  private take(bytes: Buffer): void {
    const before = this.untaken()
    const isOpen = this.held.length === 0
    if (this.hasFailed || (isOpen && before === undefined && isOneRequest(bytes))) {
      this.give(bytes)
      return
    }
    this.held = isOpen ? bytes : Buffer.concat([this.held, bytes])
    this.socket.pause()
    if (!isOpen) return
    if (before === undefined) this.goOn()
    else this.goOnAfter(before)
  }

  /** Gives Node what is held, as far as it may read now. */
  private goOn(): void {
    let bytes = this.held
    while (bytes.length > 0 && !this.socket.destroyed) {
      const before = this.untaken()
      if (before !== undefined) {
        this.held = bytes
        this.goOnAfter(before)
        return
      }
      const end = this.hasFailed ? -1 : bytes.indexOf(endOfHead, this.isReading() ? leastOfBody : 0)
      const first = end < 0 ? bytes : bytes.subarray(0, end + endOfHead.length)
      bytes = bytes.subarray(first.length)
      if (bytes.length === 0) {
        this.held = nothing
        // Before the last piece: if that is refused, the connection is paused for good.
        this.socket.resume()
      }
      this.give(first)
    }
    if (this.socket.readableEnded) this.end()
  }

  private give(bytes: Buffer): void {
    this.given = this.isReading() ? nothing : bytes
    this.toNode(bytes)
    this.before = !this.hasFailed && bytes.includes(endOfHead) ? '' : this.beginning()
    this.given = nothing
  }

  private end(): void {
    if (!this.hasFailed) this.endToNode()
  }

  /** Not at once: all the requests of a piece would be answered before anybody else's. */
  private goOnAfter(response: ServerResponse): void {
    response.once('close', () => setImmediate(() => this.goOn()))
  }

  /** The answer that the client has to take before Node may read on. */
  private untaken(): ServerResponse | undefined {
    const { current } = this
    if (this.hasFailed || current === undefined) return undefined
    return current.req.complete && !current.writableFinished ? current : undefined
  }

  /** Whether Node waits for the rest of a request's body. */
  private isReading(): boolean {
    return this.current !== undefined && !this.current.req.complete
  }
}

/** Where a request begins in these bytes: the parser skips blank lines before it. */
function afterBlankLines(bytes: Buffer): number {
  const first = bytes.findIndex(byte => byte !== 0x0d && byte !== 0x0a)
  return first < 0 ? bytes.length : first
}

/** Whether no second request can begin in these bytes. */
function isOneRequest(bytes: Buffer): boolean {
  const end = bytes.indexOf(endOfHead)
  return end < 0 || end + endOfHead.length === bytes.length
}

/**
 * Takes the listener off a connection that Node's HTTP, or the last to have taken it over, has put there. The result
 * does nothing once the connection is destroyed or no longer HTTP: its parser may be another connection's by then.
 */
export function takeOverFrom(socket: Socket, event: 'data' | 'end'): (bytes?: Buffer) => void {
  const listener = takeOver(socket, event)
  return bytes => {
    const { parser } = socket as Socket & { parser?: object | null }
    if (!socket.destroyed && parser != null) listener.call(socket, bytes)
  }
}

/** Takes the last listener of an event off its emitter. */
export function takeOver(emitter: EventEmitter, event: string): (...args: unknown[]) => void {
  const listener = emitter.listeners(event).at(-1)
  if (listener === undefined) throw new Error(`nothing listens to '${event}' yet`)
  emitter.off(event, listener as () => void)
  return listener as (...args: unknown[]) => void
}
