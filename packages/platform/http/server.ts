import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { FatalError, reasonOf } from '../lifecycle/errors.ts'
import { serveOneRequestAtATime } from './inTurn.ts'
import { sizeOf, type Unread, UnreadAnswers } from './unread.ts'

/** A request that has not arrived completely after this time is refused. */
const requestTimeoutMs = 10_000

/**
 * On every answer of every server, unless it sets its own: nothing is stored, loaded, framed or guessed. A shared cache
 * may store a 404 or 405 by default, or whatever it is configured to, and `X-Api-Key` does not keep it from that as
 * `Authorization` does (RFC 9110, 15.1; RFC 9111, 3.5).
 */
export const safeHeaders = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
}

/** No route has a JSON schema (zod validates input); loading fastify's schema compilers takes 25 ms of a start. */
const noSchemas = () => () => {
  throw new Error('this server compiles no JSON schemas')
}

/**
 * Options for fastify of every server: its limits, and no JSON schemas. Node's own limits are 60 s for headers and 300
 * s for a request, and it checks connections only every 30 s.
 */
export const serverOptions = {
  bodyLimit: 1_024,
  connectionTimeout: 60_000,
  requestTimeout: requestTimeoutMs,
  http: {
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: 1_000,
    // Node would answer a request without Host itself, without the safe headers or a problem body.
    requireHostHeader: false,
  },
  schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
}

/**
 * How many connections may wait to be accepted; the system takes `net.core.somaxconn` if that is less (4,096 on Linux).
 * Node's default of 511 is less than the devices that connect again at once after a network comes back: what is beyond
 * it gets no answer, and tries again after a second or more.
 */
const backlog = 4_096

/** All addresses of the host, IPv4 and IPv6: Node switches the socket's own v6-only off, whatever bindv6only says. */
const allAddresses = '::'
/** What a host without IPv6 says: no such protocol (switched off in the kernel), or no such address. */
const withoutIpv6 = ['EAFNOSUPPORT', 'EADDRNOTAVAIL']

/**
 * Starts listening, and returns the address; on `::`, on all IPv4 addresses if the host has no IPv6. Throws a
 * FatalError that names the settings, such as `QUERY_HOST` and `QUERY_PORT`, if that fails; without its cause, which
 * would be taken for a part that does not answer.
 */
export async function listen(
  app: FastifyInstance,
  { host, port }: { host: string; port: number },
  settings: 'QUERY' | 'ADMIN' | 'OPS',
): Promise<string> {
  await app.ready()
  try {
    return await app.listen({ host, port, backlog }).catch(error => {
      if (host !== allAddresses || !withoutIpv6.includes(error.code)) throw error
      return app.listen({ host: '0.0.0.0', port, backlog })
    })
  } catch (error) {
    throw new FatalError(
      `cannot listen on ${host}:${port} (${reasonOf(error)}): set ${settings}_HOST to an address of this machine, or ${settings}_PORT to a free port`,
    )
  }
}

/**
 * Puts the safe headers on every answer, closes connections beyond `maxConnections` at once, bounds the time and memory
 * that one client can take, and answers what Node's HTTP would leave unanswered:
 *
 * - A client that shuts its sending half after its requests: Node would end the connection before it has answered.
 * - `CONNECT`: Node would destroy the connection, with the answers that are still to be sent.
 * - A body with an upgrade: Node's parser drops what comes after it, so that the connection ends with the answer.
 * - An unknown expectation is ignored (RFC 9110, 10.1.1). Node's 417 would lack the safe headers.
 *
 * Answers that bypass fastify have to reserve room in the result.
 */
export function secure(
  app: FastifyInstance,
  { maxConnections, onUnread }: { maxConnections: number; onUnread?: (connections: number) => void },
): Unread {
  const server = app.server as Server & { httpAllowHalfOpen: boolean }
  server.maxConnections = maxConnections
  server.httpAllowHalfOpen = true
  server.on('connect', (_request: IncomingMessage, socket: Socket) =>
    server.emit('clientError', new Error('a request to CONNECT'), socket),
  )
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers.upgrade !== undefined && hasBody(request)) response.setHeader('Connection', 'close')
  })
  serveOneRequestAtATime(server)
  const unread = new UnreadAnswers(server, onUnread)
  app.addHook('onSend', (request, reply, payload, done) => {
    unread.reserve(request.raw.socket, sizeOf(payload))
    for (const [name, value] of Object.entries(safeHeaders))
      if (!reply.hasHeader(name)) reply.header(name, value)
    done()
  })
  return unread
}

/** Whether a request has a body. */
export const hasBody = ({ headers }: { headers: IncomingHttpHeaders }): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Other applications of a host can fill its cookies; a browser shows no page for an empty answer. */
const tooLarge = 'The headers are larger than 16 KiB. In a browser, delete the cookies of this host.\n'

/** Options for fastify that answer what never became a request, with a status and the safe headers alone. */
export const bareRefusals = {
  clientErrorHandler: (error: ClientError, socket: Socket): void =>
    refuse(error, socket, () => {
      const headers = Object.entries(safeHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
      const text = error.code === 'HPE_HEADER_OVERFLOW' ? tooLarge : ''
      const ofText = `Content-Type: text/plain\r\nContent-Length: ${text.length}\r\n`
      return `HTTP/1.1 ${statusLines[error.code ?? ''] ?? '400 Bad Request'}\r\n${headers.join('')}${ofText}Connection: close\r\n\r\n${text}`
    }),
  /** For a path that the router cannot decode, before any hook. */
  frameworkErrors: (_error: unknown, _request: unknown, reply: unknown): void =>
    void (reply as FastifyReply).code(400).headers(safeHeaders).send(),
}

const statusLines: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
}

/** How long a refused connection stays open for its client to close it. */
const lingerMs = 2_000

type ClientError = Error & { code?: string | undefined }

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
