import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import { hasBody, takeOver, takeOverFrom } from '@tally/platform'
import { fixedHeaders, linesOf, rememberFew, sendMessage } from '../http/answer.ts'
import { type PlainRequest, type ReadRequest, readPlainRequest } from './plainRequest.ts'

/** `import … from 'node:http'` evaluates every export, and that of `WebSocket` loads undici: 30 ms of a start. */
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** Where the answer to a request goes: one of the two is called, once, after `ask` has returned. */
export type Exchange<Waited> = {
  /** The connection of the request. */
  socket: Socket
  /** Sends an answer; `headers` are lines, each with its end. */
  answer(status: 200 | 304, headers: string, body: string): void
  /**
   * Leaves the request to the server's own listener after all, with what has happened to it so far. It is dropped if it
   * was read on its connection and that is closed.
   */
  leave(waited: Waited): void
}

export type DirectAnswers<Waited> = {
  /** What happened to a request before it was left to the server's own listener. */
  waited(request: IncomingMessage): Waited | undefined
  /**
   * Leaves all further requests to the server's own listener. Resolves once no request that was read on its connection
   * waits here; Node's server waits for those that it has read itself.
   */
  stop(): Promise<void>
}

type Ask<Waited> = (request: ReadRequest, exchange: Exchange<Waited>) => boolean

/** What the connections of a server share. */
class DirectServer<Waited> {
  readonly ask: Ask<Waited>
  readonly headOf: ReturnType<typeof createHeads>
  /**
   * Writes answers one after the other, once all that are ready are composed. If they were composed between two
   * writes, the client would fall asleep meanwhile: each write would have to wake it, which costs more than the rest
   * of an answer.
   */
  readonly later = cork<() => void>(writes => {
    for (const write of writes) write()
  })
  isStopped = false
  /** Requests that were read on their connection and are not answered yet. */
  private waiting = 0
  private readonly noneWaits = Promise.withResolvers<void>()

  constructor(ask: Ask<Waited>, keepAliveTimeout: number) {
    this.ask = ask
    this.headOf = createHeads(keepAliveTimeout)
  }

  begin(): void {
    this.waiting += 1
  }

  end(): void {
    this.waiting -= 1
    if (this.isStopped && this.waiting === 0) this.noneWaits.resolve()
  }

  stop(): Promise<void> {
    this.isStopped = true
    if (this.waiting === 0) this.noneWaits.resolve()
    return this.noneWaits.promise
  }
}

type State = 'first' | 'reading' | 'waiting' | 'node'
type Input = 'plain' | 'declined' | 'accepted' | 'other' | 'bytes' | 'answered' | 'left'
type Action = 'handOver' | 'handOverDeclined' | 'keep' | 'hold' | 'goOn' | 'handBack'

/**
 * What a connection does: for each state and input, the next state and the action. `first`: nothing has come yet.
 * `reading`: it reads plain requests itself. `waiting`: a request waits for its answer. `node`: it is Node's for good.
 * Of bytes that came, `plain` is a request that is not asked for, `declined` and `accepted` one that was, `other` is
 * anything else, and `bytes` is not looked at.
 */
const connectionStates: Record<State, Partial<Record<Input, readonly [State, Action]>>> = {
  first: { plain: ['reading', 'handOver'], other: ['node', 'handOver'] },
  reading: {
    accepted: ['waiting', 'keep'],
    declined: ['reading', 'handOverDeclined'],
    plain: ['reading', 'handOver'],
    other: ['node', 'handOver'],
  },
  waiting: { bytes: ['waiting', 'hold'], answered: ['reading', 'goOn'], left: ['reading', 'handBack'] },
  node: { bytes: ['node', 'handOver'] },
}

/** A connection in one of `connectionStates`. */
class DirectConnection<Waited> implements Exchange<Waited>, Record<Action, (bytes: Buffer) => void> {
  readonly socket: Socket
  /** Whether Node's HTTP has not sent all of an answer yet. */
  isAnswering = false
  /** Whether `ask` has declined the request that Node's HTTP is about to read. */
  isDeclined = false
  /** What Node's HTTP is to know of the request that it is about to read. */
  waited: Waited | undefined
  private state: State = 'first'
  /** The request that waits. */
  private request: PlainRequest | undefined
  /** What came while it waits. */
  private held: Buffer[] = []
  private readonly server: DirectServer<Waited>
  /** Gives bytes to Node's HTTP. */
  readonly handOver: (bytes: Buffer) => void
  private readonly endToNode: () => void

  constructor(server: DirectServer<Waited>, socket: Socket) {
    this.server = server
    this.socket = socket
    this.handOver = takeOverFrom(socket, 'data')
    this.endToNode = takeOverFrom(socket, 'end')
    socket.on('data', bytes => this.step(this.inputOf(bytes), bytes))
    socket.on('end', () => {
      if (this.state !== 'waiting') this.endToNode()
    })
  }

  answer(status: 200 | 304, headers: string, body: string): void {
    const text = this.server.headOf(status, headers) + body
    this.server.later(() => {
      if (this.socket.writable) this.socket.write(text, 'latin1')
      this.step('answered', nothing)
    })
  }

  leave(waited: Waited): void {
    this.waited = waited
    this.step('left', Buffer.from(this.request?.text ?? '', 'latin1'))
  }

  private step(input: Input, bytes: Buffer): void {
    const transition = connectionStates[this.state][input]
    if (transition === undefined) throw new Error(`'${input}' in the state '${this.state}'`)
    const [next, action] = transition
    this.state = next
    this[action](bytes)
  }

  private inputOf(bytes: Buffer): Input {
    if (this.state === 'node' || this.state === 'waiting') return 'bytes'
    // Node's HTTP stops reading from a client that does not read its answers.
    const mayRead = !this.isAnswering && !this.socket.writableNeedDrain
    const request = mayRead ? readPlainRequest(bytes) : undefined
    if (request === undefined) return 'other'
    if (this.state === 'first' || this.server.isStopped) return 'plain'
    if (!this.server.ask(request, this)) return 'declined'
    this.request = request
    return 'accepted'
  }

  /** Node reads it before this returns, and it is not asked for twice. */
  handOverDeclined(bytes: Buffer): void {
    this.isDeclined = true
    this.handOver(bytes)
    this.isDeclined = false
  }

  keep(): void {
    this.server.begin()
  }

  /** Answers go out in the order of requests. */
  hold(bytes: Buffer): void {
    this.held.push(bytes)
    this.socket.pause()
  }

  handBack(bytes: Buffer): void {
    this.handOver(bytes)
    this.goOn()
  }

  goOn(): void {
    this.request = undefined
    this.server.end()
    if (this.held.length > 0) {
      const bytes = Buffer.concat(this.held)
      this.held = []
      this.socket.resume()
      this.step(this.inputOf(bytes), bytes)
    }
    if (this.socket.readableEnded && this.state !== 'waiting') this.endToNode()
  }
}

const nothing = Buffer.alloc(0)

/**
 * Answers plain requests on their connection itself: to parse one and to compose its answer by Node's HTTP costs more
 * than all else that a poll needs (docs/decisions/0018-polls-are-answered-on-the-connection.md). A request is read here
 * if it is alone in what has arrived, and nothing is left to decide about it. From the first bytes that are anything
 * else, a connection is Node's alone. The first request of each is read by Node as well, which begins its time limits;
 * the idle timeout of the socket goes on for all that follow. What Node has read is asked for here too, before the
 * server's own listener gets it: thousands of devices that connect at once would have to wait for all that the listener
 * does.
 *
 * `ask` returns false, without side effects, for a request that it leaves to the server's own listener. Call this once
 * that listener is registered.
 */
export function answerDirectly<Waited>(server: Server, ask: Ask<Waited>): DirectAnswers<Waited> {
  const connections = new WeakMap<Socket, DirectConnection<Waited>>()
  const waited = new WeakMap<IncomingMessage, Waited>()
  const direct = new DirectServer(ask, server.keepAliveTimeout)
  server.on('connection', (socket: Socket) => {
    connections.set(socket, new DirectConnection(direct, socket))
  })
  const listener = takeOver(server, 'request') as RequestListener
  const toListener: RequestListener = (request, response) => listener.call(server, request, response)
  server.on('request', (request, response) => {
    const connection = connections.get(request.socket)
    const before = connection?.waited
    if (connection !== undefined) {
      connection.isAnswering = true
      response.once('finish', () => {
        connection.isAnswering = false
      })
      connection.waited = undefined
    }
    const leave = (before: Waited) => {
      waited.set(request, before)
      toListener(request, response)
    }
    if (before !== undefined) return leave(before)
    const answer: Exchange<Waited>['answer'] = (status, headers, body) =>
      sendMessage(response, { status, headers, body })
    const mayAsk = !direct.isStopped && connection?.isDeclined !== true && isBodylessGet(request)
    if (!mayAsk || !ask(request, { socket: request.socket, answer, leave })) toListener(request, response)
  })
  return {
    waited: request => waited.get(request),
    stop: () => direct.stop(),
  }
}

/** A GET without a body: its answer depends only on what `ask` reads. */
const isBodylessGet = (request: IncomingMessage): request is IncomingMessage & ReadRequest =>
  request.method === 'GET' && request.url !== undefined && !hasBody(request)

/** Returns the function that composes the head of an answer, with the headers that are on each. */
function createHeads(keepAliveTimeout: number) {
  const ofConnection = ['Connection', 'keep-alive', 'Keep-Alive', `timeout=${keepAliveTimeout / 1000}`]
  const end = `${linesOf(fixedHeaders)}${linesOf(ofConnection)}\r\n`
  const endOf = rememberFew(seconds => `Date: ${new Date(seconds * 1000).toUTCString()}\r\n${end}`)
  return (status: number, headers: string): string =>
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}${endOf(Math.floor(Date.now() / 1000))}`
}

/**
 * Returns a function that keeps what it is given. All of it goes to `handle`, in the order given, once every promise
 * that can go on now has done so.
 */
function cork<Item>(handle: (items: Item[]) => void): (item: Item) => void {
  let gathered: Item[] = []
  const handleAll = () => {
    const items = gathered
    gathered = []
    handle(items)
  }
  return item => {
    if (gathered.length === 0) process.nextTick(handleAll)
    gathered.push(item)
  }
}
