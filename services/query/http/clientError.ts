import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { type ProblemType, problemBody, problemTypes } from '@tally/contract'
import { refuse, safeHeaders } from '@tally/runtime'
import { findBrokenEncoding, splitTarget } from './encoding.ts'

/** `rawPacket` is a Buffer at run time; fastify declares its JSON form. `bytesParsed` is how far Node's parser came. */
type ClientError = Error & { code?: string | undefined; rawPacket?: unknown; bytesParsed?: number }

/** A longer one is not waited for. */
const longestLine = 16_384

/** What has come of request lines with a method that Node's parser does not know. */
const lines = new WeakMap<Socket, string>()

/**
 * Answers input that never became a request (not HTTP, headers too long, too slow, a method unknown to Node's parser)
 * with a problem, and closes the connection. The answer depends on the bytes alone, however they are cut into segments:
 * `instance` is the path only for an unknown method, whose line is waited for. All else has `/`.
 */
export function answerClientError(
  error: ClientError,
  socket: Socket,
  isKnownPath: (path: string) => boolean,
): void {
  const line = error.code === 'HPE_INVALID_METHOD' ? lineOf(error, socket) : ''
  if (line === undefined) return
  refuse(error, socket, () => problemText(...problemOf(error, line, isKnownPath)))
}

/**
 * The request line from the byte on that makes its method unknown; undefined if its end has not come yet. Each further
 * segment is an error of Node's parser, too.
 */
function lineOf({ rawPacket, bytesParsed = 0 }: ClientError, socket: Socket): string | undefined {
  const before = lines.get(socket)
  // At the client's end there are no bytes.
  if (!Buffer.isBuffer(rawPacket)) return before ?? ''
  const from = before === undefined ? bytesParsed : 0
  const line = ((before ?? '') + rawPacket.toString('latin1', from, from + longestLine)).slice(0, longestLine)
  lines.set(socket, line)
  return line.includes('\n') || line.length >= longestLine ? line : undefined
}

function problemOf(
  { code }: ClientError,
  line: string,
  isKnownPath: (path: string) => boolean,
): [ProblemType, string] {
  if (code === 'HPE_HEADER_OVERFLOW') return ['request-too-large', '/']
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return ['request-timeout', '/']
  const target = /^[!#$%&'*+.^_`|~\w-]* (\/\S*) HTTP\/1\.[01]\r?\n/.exec(line)?.[1]
  const path = target === undefined ? '/' : splitTarget(target).path
  if (path === '/' || findBrokenEncoding(path) !== undefined) return ['bad-request', path]
  return [isKnownPath(path) ? 'method-not-allowed' : 'not-found', path]
}

function problemText(type: ProblemType, path: string): string {
  const requestId = randomUUID()
  const body = JSON.stringify(problemBody(type, { instance: path, requestId }))
  const { status, title } = problemTypes[type]
  return [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    ...Object.entries(safeHeaders).map(([name, value]) => `${name}: ${value}`),
    ...(type === 'method-not-allowed' ? ['Allow: GET, HEAD'] : []),
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}
