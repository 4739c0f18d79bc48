import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ProblemType, problemBody, problemTypes } from '@tally/contract'
import { safeHeaders } from '@tally/runtime'
import { findBrokenEncoding, splitTarget } from './encoding.ts'

/** `rawPacket` is a Buffer at run time; fastify declares its JSON form. */
type ClientError = Error & { code?: string | undefined; rawPacket?: unknown }

/** Connections whose input failed: Node's parser fails again with each further chunk. */
const failed = new WeakSet<Socket>()

/**
 * Answers input that never became a request (not HTTP, headers too long, too slow, a method unknown to Node's parser)
 * with a problem, and closes the connection. Nothing more is read from it: the client keeps the bytes behind the
 * failure, however long it leaves answers unread.
 */
export function answerClientError(
  error: ClientError,
  socket: Socket,
  isKnownPath: (path: string) => boolean,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  if (failed.has(socket)) return
  failed.add(socket)
  socket.pause()
  const path = requestPath(error.rawPacket) ?? '/'
  answerInTurn(socket, problemOf(error, path, isKnownPath), path)
}

/** A client would take the problem for the answer to the request before, or for the rest of it: that one goes first. */
function answerInTurn(socket: Socket, type: ProblemType, path: string): void {
  const { _httpMessage: before } = socket as Socket & { _httpMessage?: ServerResponse | null }
  if (before) {
    before.once('close', () => answerInTurn(socket, type, path))
    return
  }
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const requestId = randomUUID()
  const body = JSON.stringify(problemBody(type, { instance: path, requestId }))
  const { status, title } = problemTypes[type]
  socket.end(
    [
      `HTTP/1.1 ${status} ${title}`,
      'Content-Type: application/problem+json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Cache-Control: no-store',
      ...Object.entries(safeHeaders).map(([name, value]) => `${name}: ${value}`),
      ...(type === 'method-not-allowed' ? ['Allow: GET, HEAD'] : []),
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

function problemOf({ code }: ClientError, path: string, isKnownPath: (path: string) => boolean): ProblemType {
  if (code === 'HPE_HEADER_OVERFLOW') return 'request-too-large'
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request-timeout'
  if (code !== 'HPE_INVALID_METHOD') return 'bad-request'
  if (path === '/' || findBrokenEncoding(path) !== undefined) return 'bad-request'
  return isKnownPath(path) ? 'method-not-allowed' : 'not-found'
}

/** The path of a request line with any method; undefined if there is none. */
function requestPath(packet: unknown): string | undefined {
  if (!Buffer.isBuffer(packet)) return undefined
  const target = /^[!#$%&'*+.^_`|~\w-]+ (\/\S*) HTTP\/1\.[01]\r?\n/.exec(
    packet.toString('latin1', 0, 16_384),
  )?.[1]
  return target === undefined ? undefined : splitTarget(target).path
}
